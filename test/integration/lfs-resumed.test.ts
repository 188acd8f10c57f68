import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, describe, it } from 'node:test'
import { appendedRow } from '../../src/features/transfers/uploads/rows.ts'
import { newId } from '../../src/kernel/ids.ts'
import { resumedUploadMs, resumedUploadsPerCallerMax } from '../../src/kernel/limits/lfs.ts'
import { day, MiB } from '../../src/kernel/units.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { openInspection } from '../harness/inspection.ts'
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
  /** How much is stored of each upload of an object that is open, and how many bytes all of them hold. */
  const open = ({ oid }: LfsObject) =>
    inDatabase(site.service, async (q) => {
      const rows = await q
        .selectFrom('uploads')
        .leftJoin('assemblies', 'assemblies.claim_id', 'uploads.id')
        .leftJoin('claims', 'claims.id', 'uploads.id')
        .select(['uploads.status', 'assemblies.stored_bytes', 'claims.size'])
        .where('uploads.name', '=', `lfs:${oid}`)
        .execute()
      const stored = rows.filter(({ status }) => status === 'pending').map(({ stored_bytes }) => stored_bytes ?? 0)
      return { stored, held: rows.reduce((sum, { size }) => sum + (size ?? 0), 0) }
    })
  const isOver = async (object: LfsObject): Promise<void> =>
    assert.deepEqual(await open(object), { stored: [], held: 0 })
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

    it('leaves nothing where nothing came, however often', async () => {
      const object = newObject(2 * MiB)
      const upload = await begun(object)
      for (let tries = 0; tries < 3; tries++) {
        assert.equal(await sent(upload, 0, Buffer.alloc(0)), 0)
        await isOver(object)
      }
      const head = cutText(upload, object.bytes, 0, 0)
      for (const way of waysToGo) await vanish(site.service.url, head, way, { kind: 'turns', rounds: 30 })
      await until('nothing is open', async () => (await open(object)).stored.length === 0)
    })

    it('that begins at its first byte again takes the place of what came before', async () => {
      const object = newObject(3 * MiB)
      const upload = await begun(object)
      for (const end of [MiB, 2 * MiB, MiB]) assert.equal(await sent(upload, 0, object.bytes.subarray(0, end)), end)
      assert.deepEqual(await open(object), { stored: [MiB], held: MiB })
      assert.equal(await sent(upload, 0, object.bytes), object.size)
      await isOver(object)
    })

    it('is counted by itself: whoever has many goes on with images', async () => {
      await inDatabase(site.service, async (q) => {
        const row = appendedRow(
          { repository: 'releases', owner: `account:${site.owner.id}` },
          'lfs:x',
          day,
          site.service.clock.now(),
        )
        for (let count = 0; count < resumedUploadsPerCallerMax; count++)
          await q
            .insertInto('uploads')
            .values({ ...row, id: newId(site.service.clock.now()) })
            .execute()
      })
      try {
        isRefused(await send(await begun(newObject(2 * MiB)), 0, Buffer.alloc(1)), 507, /1000 uploads open/)
        const image = { method: 'POST', path: '/v2/releases/x/blobs/uploads/', credential: site.owner.token }
        const told = await site.service.ask(image)
        assert.equal(told.status, 202, told.text)
      } finally {
        await inDatabase(site.service, (q) => q.deleteFrom('uploads').where('name', '=', 'lfs:x').execute())
      }
    })

    it('ends when the object comes in another way', async () => {
      const object = newObject(3 * MiB)
      const upload = await begun(object)
      await sent(upload, 0, object.bytes.subarray(0, MiB))
      await push(object.bytes)
      await isOver(object)
      assert.equal(await offsetOf(upload), object.size)
    })

    it('ends where it is cut, when the object came meanwhile', async () => {
      const object = newObject(3 * MiB)
      const upload = await begun(object)
      const half = new Readable({ read() {} })
      half.push(object.bytes.subarray(0, MiB))
      const slow = send(upload, 0, half).catch((error: unknown) => error)
      await until('somebody sends to it', async () => (await open(object)).held > 0)
      await push(object.bytes)
      half.destroy(new Error('the line broke'))
      await slow
      await until('nothing is open', async () => (await open(object)).stored.length === 0)
      await isOver(object)
    })

    it('of more than an object may have is refused before it comes', async () => {
      const object = { oid: 'd'.repeat(64), size: 2 ** 52 }
      const path = `/lfs/releases/objects/${object.oid}/rest?size=${object.size}`
      const headers = { 'upload-offset': '0' }
      isRefused(
        await site.ask({ method: 'PATCH', path, headers, body: Buffer.alloc(MiB) }),
        413,
        /SVC_MAX_OBJECT_BYTES/,
      )
      await isOver(object)
    })

    it('that has more than the object goes on for nobody', async () => {
      const object = newObject(2 * MiB)
      const upload = await begun(object)
      const longer = { ...upload, href: upload.href.replace(`size=${object.size}`, `size=${5 * MiB}`) }
      await sent(longer, 0, randomBytes(3 * MiB))
      assert.equal(await offsetOf(upload), 0)
      isRefused(await send(upload, object.size - 1, object.bytes.subarray(object.size - 1)), 409, /byte/)
      assert.equal(await sent(upload, 0, object.bytes), object.size)
      assert.ok((await pull(object)).equals(object.bytes))
      await isOver(object)
    })

    it('of no bytes is there at once, or is something else', async () => {
      const empty = newObject(0)
      const nothing = async (object: LfsObject): Promise<Told> => {
        const told = await batch('upload', [object], { transfers: ['tus'] })
        const upload: Action = told.json.objects[0].actions.upload
        return send(upload, 0, Buffer.alloc(0))
      }
      assert.equal((await nothing(empty)).status, 204)
      assert.equal((await pull(empty)).byteLength, 0)
      const other = { oid: 'e'.repeat(64), size: 0 }
      isRefused(await nothing(other), 422, /was declared/)
      await isOver(other)
    })

    it('takes what the store has lost again', async () => {
      const object = newObject(2 * MiB)
      const upload = await begun(object)
      await sent(upload, 0, object.bytes)
      const inspection = await openInspection(site.service)
      try {
        await inspection.store.delete(await inspection.nameOf(object.oid))
        assert.equal(await offsetOf(upload), 0)
        assert.equal(await sent(upload, 0, object.bytes.subarray(0, MiB)), MiB)
        assert.equal(await sent(upload, MiB, object.bytes.subarray(MiB)), object.size)
        assert.ok((await pull(object)).equals(object.bytes))
        await inspection.inOrder()
      } finally {
        await inspection.close()
      }
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
