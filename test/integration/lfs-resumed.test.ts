import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { resumedUploadMs } from '../../src/kernel/limits/lfs.ts'
import { MiB } from '../../src/kernel/units.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { type Action, isRefused, type LfsObject, lfsSite, newObject, setQuota } from '../harness/lfs.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { vanish, waysToGo } from '../harness/vanishing-client.ts'

after(closeConnections)

const tus = { transfers: ['basic', 'tus'] }

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })
  const { batch, follow, pull, push, isMissing } = site

  const begun = async (object: LfsObject, credential = site.owner.token): Promise<Action> => {
    const told = await batch('upload', [object], tus, { credential })
    assert.equal(told.json.transfer, 'tus', told.text)
    return told.json.objects[0].actions.upload
  }
  const offsetOf = async (upload: Action, ask = follow): Promise<number> => {
    const told = await ask(upload, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } })
    assert.deepEqual([told.status, told.headers['tus-resumable']], [204, '1.0.0'])
    return Number(told.headers['upload-offset'])
  }
  const send = (upload: Action, offset: number, body: Uint8Array | Readable, ask = follow): Promise<Told> =>
    ask(upload, {
      method: 'PATCH',
      body,
      headers: { 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
    })
  const sent = async (upload: Action, offset: number, body: Uint8Array | Readable): Promise<number> => {
    const told = await send(upload, offset, body)
    assert.equal(told.status, 204, told.text)
    return Number(told.headers['upload-offset'])
  }
  /** The head of a PATCH that promises everything behind an offset, and as much of it as is said. */
  const cutText = ({ href, header }: Action, bytes: Buffer, offset: number, cut: number): Buffer => {
    const head = [
      `PATCH ${href.slice(site.service.url.length)} HTTP/1.1`,
      `Host: ${new URL(site.service.url).host}`,
      `Authorization: ${header['Authorization']}`,
      `Upload-Offset: ${offset}`,
      `Content-Length: ${bytes.byteLength - offset}`,
    ]
    return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes.subarray(offset, cut)])
  }

  describe('an upload that a client can go on with', () => {
    it('is offered for large objects, to clients that offer it', async () => {
      const large = newObject(MiB)
      const transferOf = async (operation: 'upload' | 'download', objects: LfsObject[], transfers: string[]) =>
        (await batch(operation, objects, { transfers })).json.transfer
      assert.equal(await transferOf('upload', [large], ['basic', 'tus']), 'tus')
      assert.equal(await transferOf('upload', [newObject(3)], ['tus']), 'tus')
      assert.equal(await transferOf('upload', [newObject(3)], ['basic', 'tus']), 'basic')
      assert.equal(await transferOf('download', [large], ['basic', 'tus']), 'basic')
      // Clients take what is empty for something that is there.
      assert.equal(await transferOf('upload', [large, { oid: 'e'.repeat(64), size: 0 }], ['basic', 'tus']), 'basic')
    })

    for (const length of [MiB, 20 * MiB])
      it(`of ${length / MiB} MiB comes in one piece`, async () => {
        const object = newObject(length)
        const upload = await begun(object)
        assert.equal(await offsetOf(upload), 0)
        assert.equal(await sent(upload, 0, object.bytes), length)
        assert.equal(await offsetOf(upload), length)
        assert.ok((await pull(object)).equals(object.bytes))
        assert.equal(await sent(upload, 0, object.bytes), length)
      })

    it('comes in pieces, and nothing is there before the last one', async () => {
      const object = newObject(3 * MiB)
      const upload = await begun(object)
      let offset = 0
      for (const end of [10, MiB, 2 * MiB + 7, object.size]) {
        assert.equal(await offsetOf(upload), offset)
        await isMissing(object)
        const bytes = object.bytes.subarray(offset, end)
        offset = await sent(upload, offset, end === MiB ? Readable.from([bytes]) : bytes)
        assert.equal(offset, end)
      }
      assert.ok((await pull(object)).equals(object.bytes))
    })

    it('keeps what came before the line broke', async () => {
      const object = newObject(3 * MiB)
      const upload = await begun(object)
      let offset = 0
      for (const way of waysToGo) {
        const cut = offset + 700_000
        await vanish(site.service.url, cutText(upload, object.bytes, offset, cut), way, { kind: 'turns', rounds: 30 })
        const before = offset
        await until('what came is kept', async () => (await offsetOf(upload)) > before)
        offset = await offsetOf(upload)
        assert.ok(offset <= cut)
      }
      assert.equal(await sent(upload, offset, object.bytes.subarray(offset)), object.size)
      assert.ok((await pull(object)).equals(object.bytes))
    })

    it('goes on through another process, by another batch and another credential of its account', async () => {
      const object = newObject(2 * MiB)
      await sent(await begun(object), 0, object.bytes.subarray(0, MiB))
      const made = { path: '/api/v1/auth/tokens', credential: site.session, json: { name: 'again' } }
      const { token } = (await site.ask(made)).json
      const other = await startService(engine, { on: site.service, roles: { gateway: 'api', worker: false } })
      try {
        const upload = await begun(object, token)
        const there = ({ href, header }: Action, given: Partial<Ask> = {}) =>
          other.ask({ ...given, path: href.slice(site.service.url.length), headers: { ...header, ...given.headers } })
        assert.equal(await offsetOf(upload, there), MiB)
        assert.equal((await send(upload, MiB, object.bytes.subarray(MiB), there)).status, 204)
      } finally {
        await other.stop()
      }
      assert.ok((await pull(object)).equals(object.bytes))
    })

    it('is refused at another offset, which changes nothing', async () => {
      const object = newObject(2 * MiB)
      const upload = await begun(object)
      isRefused(await send(upload, 5, object.bytes.subarray(5)), 409, /byte 5/)
      await sent(upload, 0, object.bytes.subarray(0, MiB))
      isRefused(await send(upload, MiB + 1, object.bytes.subarray(MiB + 1)), 409, /byte/)
      assert.equal(await offsetOf(upload), MiB)
    })

    it('that is something else in the end is refused, and nothing is kept of it', async () => {
      const object = newObject(2 * MiB)
      const upload = await begun(object)
      isRefused(await send(upload, 0, randomBytes(object.size)), 422, /digest/)
      assert.equal(await offsetOf(upload), 0)
      isRefused(await send(upload, 0, Buffer.concat([object.bytes, Buffer.alloc(1)])), 422, /bytes/)
      isRefused(await send(upload, 0, Readable.from([object.bytes, Buffer.alloc(1)])), 422, /bytes/)
      assert.equal(await offsetOf(upload), 0)
      await isMissing(object)
      assert.equal(await sent(upload, 0, object.bytes), object.size)
    })

    it('is its account’s alone', async () => {
      const object = newObject(2 * MiB)
      await sent(await begun(object), 0, object.bytes.subarray(0, MiB))
      const theirs = await begun(object, site.other.token)
      assert.equal(await offsetOf(theirs), 0)
      await sent(theirs, 0, object.bytes)
      // Whoever was slower finds it there.
      const again = await batch('upload', [object], tus)
      assert.equal(again.json.objects[0].actions, undefined)
    })

    it('may be sent by one account twice at once', async () => {
      const object = newObject(3 * MiB)
      const upload = await begun(object)
      const half = new Readable({ read() {} })
      half.push(object.bytes.subarray(0, MiB))
      const slow = send(upload, 0, half)
      await until('somebody sends to it', () =>
        inDatabase(
          site.service,
          async (q) =>
            (await q.selectFrom('uploads').select('id').where('turn_holder', 'is not', null).execute()).length > 0,
        ),
      )
      assert.equal(await sent(upload, 0, object.bytes), object.size)
      half.push(object.bytes.subarray(MiB))
      half.push(null)
      assert.equal((await slow).status, 204)
      assert.ok((await pull(object)).equals(object.bytes))
    })

    it('asks for the last byte again where it was not published yet', async () => {
      const object = newObject(2 * MiB)
      const upload = await begun(object)
      // As after a death behind the last byte: all of it is stored, and nothing is verified.
      await sent(upload, 0, object.bytes.subarray(0, object.size - 1))
      assert.equal(await offsetOf(upload), object.size - 1)
      assert.equal(await sent(upload, object.size - 1, object.bytes.subarray(object.size - 1)), object.size)
      assert.ok((await pull(object)).equals(object.bytes))
    })

    it('ends where the quota does', async () => {
      const object = newObject(2 * MiB)
      const upload = await begun(object)
      await setQuota(site.service, 'releases', 1)
      isRefused(await send(upload, 0, object.bytes), 507, /quota/)
      await setQuota(site.service, 'releases', null)
      assert.equal(await offsetOf(upload), 0)
    })

    it('is waited for, and given up after a day', async () => {
      const object = newObject(2 * MiB)
      await sent(await begun(object), 0, object.bytes.subarray(0, MiB))
      site.service.clock.advance(resumedUploadMs - 60_000)
      assert.equal(await offsetOf(await begun(object)), MiB)
      site.service.clock.advance(60_000)
      assert.equal(await offsetOf(await begun(object)), 0)
      await push(object.bytes)
    })
  })
})
