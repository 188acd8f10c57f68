import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { addressSeconds } from '../../src/kernel/limits/lfs.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { isRefused, lfsSite, newObject, setQuota } from '../harness/lfs.ts'
import { vanish, waysToGo } from '../harness/vanishing-client.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })
  const { action, follow, push, pull, expect, isMissing } = site

  describe('an object', () => {
    for (const [what, length] of [
      ['no bytes', 0],
      ['a few bytes', 300],
      ['many bytes', 3_000_000],
    ] as const)
      it(`of ${what} comes back as it was sent`, async () => {
        const { bytes, ...object } = newObject(length)
        if (length > 0) await isMissing(object)
        assert.deepEqual(await push(bytes), object)
        assert.ok((await pull(object)).equals(bytes))
      })

    it('is sent with any media type, and none', async () => {
      for (const type of ['text/plain; charset=utf-8', 'image/png', 'application/octet-stream', null]) {
        const object = newObject()
        const headers = type === null ? {} : { 'content-type': type }
        const told = await follow(await action('upload', object), { method: 'PUT', body: object.bytes, headers })
        assert.equal(told.status, 200, told.text)
        assert.ok((await pull(object)).equals(object.bytes))
      }
    })

    it('is sent in chunks of unknown length', async () => {
      for (const length of [300, 500_000]) {
        const object = newObject(length)
        const body = Readable.from([object.bytes.subarray(0, 100), object.bytes.subarray(100)])
        const told = await follow(await action('upload', object), { method: 'PUT', body })
        assert.equal(told.status, 200, told.text)
        assert.ok((await pull(object)).equals(object.bytes))
      }
    })

    it('may be sent twice, and by two at once', async () => {
      for (const length of [300, 2_000_000]) {
        const object = newObject(length)
        const upload = await action('upload', object)
        const byOther = await action('upload', object, { credential: site.other.token })
        const sent = [upload, byOther, upload].map((each) => follow(each, { method: 'PUT', body: object.bytes }))
        for (const { status, text } of await Promise.all(sent)) assert.equal(status, 200, text)
        assert.equal((await follow(upload, { method: 'PUT', body: object.bytes })).status, 200)
        assert.ok((await pull(object)).equals(object.bytes))
      }
    })

    it('of other bytes than it is called by is refused, and is not there then', async () => {
      for (const length of [300, 500_000]) {
        const object = newObject(length)
        const upload = await action('upload', object)
        isRefused(await follow(upload, { method: 'PUT', body: randomBytes(length) }), 422, /SHA-256/)
        await isMissing(object)
      }
    })

    it('of another length is refused, and is not there then', async () => {
      for (const length of [300, 500_000])
        for (const sent of [length - 1, length + 1]) {
          const object = newObject(length)
          const bytes = Buffer.concat([object.bytes, Buffer.alloc(1)]).subarray(0, sent)
          for (const body of [bytes, Readable.from([bytes])])
            isRefused(await follow(await action('upload', object), { method: 'PUT', body }), 422, /./)
          await isMissing(object)
        }
    })

    it('that breaks off is not there, and may be sent again', async () => {
      const object = newObject(900_000)
      const { href, header } = await action('upload', object)
      const head = [
        `PUT ${href.slice(site.service.url.length)} HTTP/1.1`,
        `Host: ${new URL(site.service.url).host}`,
        `Authorization: ${header['Authorization']}`,
        `Content-Length: ${object.size}`,
      ]
      const text = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), object.bytes.subarray(0, 400_000)])
      for (const way of waysToGo) await vanish(site.service.url, text, way, { kind: 'turns', rounds: 20 })
      await isMissing(object)
      await push(object.bytes)
      assert.ok((await pull(object)).equals(object.bytes))
    })

    it('is sent in ranges', async () => {
      const { bytes, ...object } = newObject(5000)
      await push(bytes)
      const download = await action('download', object)
      const range = await follow(download, { headers: { range: 'bytes=100-199' } })
      assert.deepEqual([range.status, range.headers['content-range']], [206, 'bytes 100-199/5000'])
      assert.ok(range.bytes.equals(bytes.subarray(100, 200)))
      const rest = await follow(download, { headers: { range: 'bytes=4000-4999' } })
      assert.ok(rest.bytes.equals(bytes.subarray(4000)))
      const beyond = await follow(download, { headers: { range: 'bytes=5000-5001' } })
      isRefused(beyond, 416, /./)
      assert.equal(beyond.headers['content-range'], 'bytes */5000')
    })

    it('is sent as it is, and its length is told before', async () => {
      const { bytes, ...object } = newObject(4000)
      await push(bytes)
      const download = await action('download', object)
      const got = await follow(download, { headers: { 'accept-encoding': 'gzip, zstd' } })
      assert.deepEqual([got.headers['content-length'], got.headers['content-encoding']], ['4000', undefined])
      const head = await follow(download, { method: 'HEAD' })
      assert.deepEqual([head.status, head.headers['content-length']], [200, '4000'])
    })

    it('of one repository is not there for another', async () => {
      const object = await push(newObject().bytes)
      await isMissing(object, 'second')
      const { header } = await action('download', object)
      const elsewhere = await site.ask({
        path: `/lfs/second/objects/${object.oid}/content`,
        credential: null,
        headers: header,
      })
      isRefused(elsewhere, 401, /./)
    })

    it('that the quota has no room for is refused', async () => {
      const object = newObject(5000)
      await setQuota(site.service, 'second', 1000)
      const path = `/lfs/second/objects/${object.oid}/content`
      isRefused(await site.ask({ method: 'PUT', path, body: object.bytes }), 507, /quota of 1000 bytes/)
      await setQuota(site.service, 'second', null)
      await isMissing(object, 'second')
    })

    it('is looked at when it came', async () => {
      const object = newObject(1_500_000)
      const { oid, size } = object
      const verify = await action('upload', object, { name: 'verify' })
      const asked = (body: object, type = 'application/vnd.git-lfs+json') =>
        follow(verify, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': type } })
      isRefused(await asked({ oid, size }), 404, /no object/)
      await push(object.bytes)
      assert.equal((await asked({ oid, size })).status, 200)
      assert.equal((await asked({ oid, size, name: 'more' }, 'application/json')).status, 200)
      isRefused(await asked({ oid, size: size + 1 }), 422, /bytes here/)
      isRefused(await asked({ oid: 'a'.repeat(64), size }), 422, /oid/)
      isRefused(await asked({}), 422, /./)
    })
  })

  describe('the address of an object', () => {
    let object: ReturnType<typeof newObject>
    before(async () => {
      object = newObject(400)
      await push(object.bytes)
    })

    it('is nothing without what stands with it', async () => {
      const fresh = newObject()
      const { href } = await action('upload', fresh)
      isRefused(await follow({ href, header: {}, expires_in: 1 }, { method: 'PUT', body: fresh.bytes }), 401, /./)
      await isMissing(fresh)
    })

    it('fits one object and one way', async () => {
      const fresh = newObject()
      const another = newObject()
      const upload = await action('upload', fresh)
      const other = { ...upload, href: upload.href.replace(fresh.oid, another.oid) }
      isRefused(await follow(other, { method: 'PUT', body: another.bytes }), 401, /./)
      await isMissing(another)
      const download = await action('download', object)
      isRefused(await follow(download, { method: 'PUT', body: object.bytes }), 401, /./)
      isRefused(await follow({ ...upload, href: download.href }), 401, /./)
      const { header: headers } = download
      isRefused(
        await site.ask({ ...site.say('/lfs/releases/objects/batch', {}, { headers }), credential: null }),
        401,
        /./,
      )
      const elsewhere = await site.ask({ path: '/api/v1/repositories', credential: null, headers })
      assert.equal(elsewhere.status, 401)
    })

    it('ends after its time, which a client asks anew for', async () => {
      const fresh = newObject()
      const [download, upload] = [await action('download', object), await action('upload', fresh)]
      site.service.clock.advance((addressSeconds - 60) * 1000)
      assert.equal((await follow(download)).status, 200)
      site.service.clock.advance(60_000)
      isRefused(await follow(download), 403, /has ended/)
      isRefused(await follow(upload, { method: 'PUT', body: fresh.bytes }), 403, /has ended/)
      await isMissing(fresh)
    })

    it('ends with the credential that made it, and with its rights', async () => {
      const token = await expect(
        { path: '/api/v1/auth/tokens', credential: site.session, json: { name: 'ci', scope: 'read-write' } },
        201,
      )
      const credential = token.json.token
      const download = await action('download', object, { credential })
      assert.equal((await follow(download)).status, 200)
      await expect({ method: 'DELETE', path: `/api/v1/auth/tokens/${token.json.id}`, credential: site.session }, 204)
      isRefused(await follow(download), 401, /./)
    })
  })
})
