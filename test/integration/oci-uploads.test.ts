import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { settleUploads } from '../../src/features/transfers/uploads/jobs.ts'
import { day, MiB, minute } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imageSite, sha256, sha512 } from '../harness/images.ts'
import { openInspection } from '../harness/inspection.ts'
import { createPerson, grant } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const image = 'releases/uploads'
const uploads = `/v2/${image}/blobs/uploads/`

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect } = site

  const begin = async (path = uploads): Promise<string> => {
    const told = await expect({ method: 'POST', path }, 202)
    const { location, range, 'docker-upload-uuid': id } = told.headers
    assert.equal(range, '0-0')
    assert.equal(location, `${path}${id}`)
    assert.equal(told.text, '')
    return String(location)
  }
  const patch = (path: string, body: Uint8Array | string | Readable, range?: string, status = 202): Promise<Told> =>
    expect({ method: 'PATCH', path, body, headers: range === undefined ? {} : { 'content-range': range } }, status)
  const complete = (path: string, digest: string, body: Uint8Array | string | Readable = '', range?: string) =>
    expect(
      {
        method: 'PUT',
        path: `${path}?digest=${digest}`,
        body,
        headers: range === undefined ? {} : { 'content-range': range },
      },
      201,
    )
  const isStored = async (digest: string, bytes: Uint8Array | string, name = image): Promise<void> => {
    const got = await expect({ path: `/v2/${name}/blobs/${digest}` }, 200)
    assert.ok(got.bytes.equals(Buffer.from(bytes)))
    const head = await expect({ method: 'HEAD', path: `/v2/${name}/blobs/${digest}` }, 200)
    assert.equal(head.text, '')
    for (const { headers } of [got, head]) {
      assert.equal(headers['docker-content-digest'], digest)
      assert.equal(headers['content-length'], String(Buffer.byteLength(bytes)))
    }
  }
  const status = (path: string) => expect({ path }, 204)

  /** Every way in which clients send a blob. */
  const ways: Record<string, (bytes: Buffer, digest: string) => Promise<unknown>> = {
    'with the last request': async (bytes, digest) => complete(await begin(), digest, bytes),
    'with the last request, in pieces of unknown length': async (bytes, digest) =>
      complete(await begin(), digest, Readable.from(bytes.byteLength === 0 ? [] : [bytes])),
    'with the first request': async (bytes, digest) =>
      expect({ method: 'POST', path: `${uploads}?digest=${digest}`, body: bytes }, 201),
    'as a stream of unknown length': async (bytes, digest) => {
      const path = await begin()
      const told = await patch(path, Readable.from(bytes.byteLength === 0 ? [] : [bytes]))
      assert.equal(told.headers.range, `0-${Math.max(0, bytes.byteLength - 1)}`)
      return complete(path, digest)
    },
    'in chunks': async (bytes, digest) => {
      const path = await begin()
      const cut = Math.floor(bytes.byteLength / 3)
      if (cut > 0) {
        const first = await patch(path, bytes.subarray(0, cut), `0-${cut - 1}`)
        assert.equal(first.headers.range, `0-${cut - 1}`)
        const second = await patch(path, bytes.subarray(cut, 2 * cut), `${cut}-${2 * cut - 1}`)
        assert.equal(second.headers.range, `0-${2 * cut - 1}`)
        assert.equal(second.headers.location, path)
      }
      const rest = bytes.subarray(2 * cut)
      return complete(path, digest, rest, rest.byteLength === 0 ? undefined : `${2 * cut}-${bytes.byteLength - 1}`)
    },
    'as one chunk': async (bytes, digest) => {
      const path = await begin()
      if (bytes.byteLength > 0) await patch(path, bytes, `0-${bytes.byteLength - 1}`)
      return complete(path, digest)
    },
  }

  describe('a blob', () => {
    for (const [way, send] of Object.entries(ways))
      for (const [what, length] of [
        ['nothing', 0],
        ['two bytes', 2],
        ['a few bytes', 300],
        ['many bytes', 700_000],
      ] as const)
        for (const called of [sha256, sha512])
          it(`of ${what} is sent ${way}, by its ${called.name.toUpperCase()}`, async () => {
            const bytes = randomBytes(length)
            const digest = called(bytes)
            await send(bytes, digest)
            await isStored(digest, bytes)
            // Again: it is there, and that is well.
            await send(bytes, digest)
          })

    it('may be sent by two at once', async () => {
      const bytes = randomBytes(200_000)
      const paths = [await begin(), await begin()]
      await Promise.all(paths.map((path) => complete(path, sha256(bytes), bytes)))
      await isStored(sha256(bytes), bytes)
    })

    it('is refused with another digest, and is not there then', async () => {
      const never = `sha256:${'1'.repeat(64)}`
      const never512 = `sha512:${'1'.repeat(128)}`
      for (const digest of [never, never512])
        for (const send of Object.values(ways)) {
          await assert.rejects(send(randomBytes(500), digest), /400.*DIGEST_INVALID/s)
          await expect({ method: 'HEAD', path: `/v2/${image}/blobs/${digest}` }, 404)
        }
    })

    it('needs a digest that is one', async () => {
      const path = await begin()
      for (const query of ['', '?digest=', '?digest=sha256:short', '?digest=md5:00', '?digest=%00'])
        await expect({ method: 'PUT', path: path + query, body: 'x' }, 400, 'DIGEST_INVALID')
      await expect({ method: 'POST', path: `${uploads}?digest=nonsense`, body: 'x' }, 400, 'DIGEST_INVALID')
      await expect({ method: 'POST', path: `${uploads}?digest-algorithm=md5` }, 400, 'DIGEST_INVALID')
      await expect({ method: 'POST', path: `${uploads}?digest-algorithm=sha512` }, 202)
      await complete(path, sha256('x'), 'x')
    })
  })

  describe('an upload', () => {
    it('takes chunks in their order alone, and goes on after one that was not', async () => {
      const path = await begin()
      const far = await patch(path, 'late', '10-13', 416)
      assert.equal(far.json.errors[0].code, 'RANGE_INVALID')
      const untouched = await status(path)
      assert.deepEqual([untouched.headers.range, untouched.headers.location], ['0-0', path])
      await patch(path, 'first', '0-4')
      const again = await patch(path, 'first', '0-4', 416)
      assert.equal(again.headers.range, '0-4')
      assert.equal(again.headers.location, path)
      assert.equal((await status(path)).headers.range, '0-4')
      const put = { method: 'PUT', path: `${path}?digest=${sha256('first second')}` }
      await expect({ ...put, body: ' second', headers: { 'content-range': '9-15' } }, 416, 'RANGE_INVALID')
      await patch(path, ' second', 'bytes 5-11/12')
      await complete(path, sha256('first second'))
      await isStored(sha256('first second'), 'first second')
    })

    it('takes chunks of any length, and asks for none', async () => {
      const bytes = randomBytes(1_108)
      const begun = await expect({ method: 'POST', path: uploads }, 202)
      assert.equal(begun.headers['oci-chunk-min-length'], undefined)
      const path = String(begun.headers.location)
      let at = 0
      for (const length of [1, 7, 1_000]) {
        const told = await patch(path, bytes.subarray(at, at + length), `${at}-${at + length - 1}`)
        at += length
        assert.equal(told.headers.range, `0-${at - 1}`)
        assert.equal(told.headers['oci-chunk-min-length'], undefined)
      }
      await complete(path, sha256(bytes), bytes.subarray(at), `${at}-${bytes.byteLength - 1}`)
      await isStored(sha256(bytes), bytes)
    })

    it('refuses a chunk that is not what its header says', async () => {
      const path = await begin()
      const send = (range: string) =>
        expect({ method: 'PATCH', path, body: 'four', headers: { 'content-range': range } }, 400)
      assert.equal((await send('0-9')).json.errors[0].code, 'SIZE_INVALID')
      assert.equal((await send('4-3')).json.errors[0].code, 'SIZE_INVALID')
      for (const range of ['abc', '0', '-', '0-', '1-2-3']) await send(range)
      assert.equal((await status(path)).headers.range, '0-0')
    })

    it('refuses a chunk of unknown length that turns out to be another, and keeps none of it', async () => {
      const pieces = () => Readable.from([Buffer.from('ab'), Buffer.from('cd')])
      for (const begun of [false, true]) {
        const path = await begin()
        const at = begun ? 3 : 0
        if (begun) await patch(path, 'abc', '0-2')
        for (const length of [1, 2, 3, 5, 100]) {
          const range = `${at}-${at + length - 1}`
          assert.equal((await patch(path, pieces(), range, 400)).json.errors[0].code, 'SIZE_INVALID')
          const put = { method: 'PUT', path: `${path}?digest=${sha256('abcd')}`, headers: { 'content-range': range } }
          await expect({ ...put, body: pieces() }, 400, 'SIZE_INVALID')
        }
        assert.equal((await status(path)).headers.range, begun ? '0-2' : '0-0')
        await patch(path, pieces(), `${at}-${at + 3}`)
        await complete(path, sha256(begun ? 'abcabcd' : 'abcd'))
      }
    })

    it('goes on behind a rest that came with another digest than it has', async () => {
      const path = await begin()
      await patch(path, 'first')
      await expect({ method: 'PUT', path: `${path}?digest=${sha256('x')}`, body: ' second' }, 400, 'DIGEST_INVALID')
      assert.equal((await status(path)).headers.range, '0-11')
      await complete(path, sha256('first second'))
      await isStored(sha256('first second'), 'first second')
    })

    it('is unknown under any other id, name, repository and to anybody else', async () => {
      const path = await begin()
      const writer = await createPerson(site.service, `writer-${engine.name}`)
      await grant(site.service, writer, 'releases', 'write')
      const id = path.slice(uploads.length)
      for (const [other, credential] of [
        [`${uploads}00000000-0000-7000-8000-000000000000`, site.owner.token],
        [`${uploads}nonsense`, site.owner.token],
        [`/v2/releases/other/blobs/uploads/${id}`, site.owner.token],
        [`/v2/second/uploads/blobs/uploads/${id}`, site.owner.token],
        [path, writer.token],
      ] as const) {
        for (const method of ['GET', 'PATCH', 'DELETE'])
          await expect({ method, path: other, credential }, 404, 'BLOB_UPLOAD_UNKNOWN')
        const put = { method: 'PUT', path: `${other}?digest=${sha256('x')}`, credential, body: 'x' }
        await expect(put, 404, 'BLOB_UPLOAD_UNKNOWN')
      }
      await status(path)
      await status(path.toUpperCase().replace(uploads.toUpperCase(), uploads))
    })

    it('is gone when it was cancelled', async () => {
      const path = await begin()
      await patch(path, 'some bytes')
      await expect({ method: 'DELETE', path }, 204)
      for (const method of ['GET', 'PATCH', 'DELETE']) await expect({ method, path }, 404, 'BLOB_UPLOAD_UNKNOWN')
    })

    it('gives its room back at once when it is cancelled, and soon its bytes', async () => {
      const inspection = await openInspection(site.service)
      const [before, places] = [await inspection.sums(), await inspection.staged()]
      const path = await begin()
      await patch(path, randomBytes(100_000))
      assert.ok((await inspection.sums()).pending >= before.pending + 100_000)
      await expect({ method: 'DELETE', path }, 204)
      assert.deepEqual(await inspection.sums(), before)
      await inspection.upkeep()
      const left = await inspection.staged()
      assert.deepEqual(
        left.filter((place) => !places.includes(place)),
        [],
      )
      await inspection.inOrder()
      await inspection.close()
    })

    it('goes on through another process, and after a restart', async () => {
      const bytes = randomBytes(300_000)
      const path = await begin()
      await patch(path, bytes.subarray(0, 100_000))
      const other = await startService(engine, { on: site.service, roles: { gateway: 'api', worker: false } })
      const asked = { method: 'PATCH', path, credential: site.owner.token, body: bytes.subarray(100_000, 200_000) }
      assert.equal((await other.ask(asked)).headers.range, '0-199999')
      await other.stop()
      await site.service.restart()
      assert.equal((await status(path)).headers.range, '0-199999')
      await complete(path, sha256(bytes), bytes.subarray(200_000))
      await isStored(sha256(bytes), bytes)
    })

    it('reserves what is stored of it, once nobody sends to it', async () => {
      const inspection = await openInspection(site.service)
      const before = (await inspection.sums()).pending
      const reserved = async (): Promise<number> => (await inspection.sums()).pending - before
      for (let at = 0; at < 3; at += 1) await patch(await begin(), 'x')
      const path = await begin()
      await patch(path, Readable.from([randomBytes(MiB), randomBytes(8 * MiB)]))
      assert.equal(await reserved(), 3 + 9 * MiB)
      const body = new PassThrough()
      const cut = assert.rejects(patch(path, body))
      body.write(randomBytes(100_000))
      await until('room for what comes', async () => (await reserved()) > 3 + 9 * MiB)
      body.destroy(new Error('the client goes away'))
      await cut
      await until('its room to come back', async () => (await reserved()) === 3 + 9 * MiB)
      assert.equal((await patch(path, 'goes on', `${9 * MiB}-${9 * MiB + 6}`)).headers.range, `0-${9 * MiB + 6}`)
      await expect({ method: 'DELETE', path }, 204)
      assert.equal(await reserved(), 3)
      await inspection.inOrder()
      await inspection.close()
    })

    it('fits beside others that fit with it', async () => {
      const quota = (bytes: number | null) =>
        inDatabase(site.service, (q) =>
          q.updateTable('repositories').set({ quota_bytes: bytes }).where('id', '=', 'second').execute(),
        )
      await quota(20 * MiB)
      const layers = Array.from({ length: 6 }, () => randomBytes(MiB))
      const sent = layers.map(async (layer) => {
        const path = await begin('/v2/second/beside/blobs/uploads/')
        await patch(path, Readable.from([layer.subarray(0, 500_000), layer.subarray(500_000)]))
        return [path, sha256(layer)] as const
      })
      for (const [path, digest] of await Promise.all(sent)) await complete(path, digest)
      await quota(null)
    })

    it('that the quota has no room for ends, in the words of the wire', async () => {
      const inspection = await openInspection(site.service)
      const setQuota = (quota: number | null) =>
        inspection.database.transaction((tx) =>
          tx.updateTable('repositories').set({ quota_bytes: quota }).where('id', '=', 'second').execute(),
        )
      await setQuota(1000)
      const path = await begin('/v2/second/full/blobs/uploads/')
      const told = await patch(path, randomBytes(5000), undefined, 413)
      assert.equal(told.json.errors[0].code, 'DENIED')
      // Clients show these words for a status below 500 alone.
      assert.match(told.json.errors[0].message, /^The repository's quota of 1000 bytes does not suffice/)
      assert.equal(told.json.errors[0].detail.reason, 'storage_quota')
      await expect({ path }, 404, 'BLOB_UPLOAD_UNKNOWN')
      const body = randomBytes(5000)
      const single = `/v2/second/full/blobs/uploads/?digest=${sha256(body)}`
      await expect({ method: 'POST', path: single, body }, 413, 'DENIED')
      await setQuota(null)
      await inspection.close()
    })

    it('that nobody goes on with ends by itself, and leaves nothing behind', async () => {
      await patch(await begin(), 'left alone')
      const inspection = await openInspection(site.service)
      await inspection.inOrder()
      site.service.clock.advance(day + minute)
      await settleUploads(inspection)
      const { reader } = inspection.database
      const open = await reader.selectFrom('uploads').select('id').where('status', '=', 'pending').execute()
      assert.deepEqual(open, [])
      const { pending, retired } = await inspection.sums()
      assert.deepEqual([pending, retired], [0, 0])
      await inspection.inOrder()
      await inspection.close()
    })
  })
})
