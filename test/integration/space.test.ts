import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { abandonRawTransfer, openRawTransfer } from '../../src/features/transfers/whole/raw-transfer.ts'
import { newId } from '../../src/kernel/ids.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { chunked, digestOf } from '../harness/inspection.ts'
import { base, capacityBytes, maxObjectBytes, nobody, storageSite } from '../harness/storage-site.ts'
import { transferDeps } from '../harness/transfer-deps.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = storageSite(engine)
  const { fresh, ask, put, stored, openSession, cancelSession, sendContent, digestsHeld } = site

  describe('a failure takes no room and breaks no counter', () => {
    const failures: [string, number, () => Promise<Told>][] = [
      ['a raw file with another checksum', 422, () => put(fresh('f'), 'x', { 'x-checksum-sha256': digestOf('y') })],
      [
        'a raw file in chunks with another checksum',
        422,
        () => put(fresh('f'), chunked('x'), { 'x-checksum-sha256': digestOf('y') }),
      ],
      ['a raw file over the object limit', 413, () => put(fresh('f'), Buffer.alloc(maxObjectBytes + 1))],
      [
        'a raw file in chunks over the object limit',
        413,
        () => put(fresh('f'), chunked(Buffer.alloc(maxObjectBytes + 1))),
      ],
      ['a raw file at a bad path', 400, () => put('a//b', 'x')],
      ['a raw file with a bad checksum', 400, () => put('a', 'x', { 'x-checksum-sha256': 'x' })],
      [
        'a raw file that exists',
        409,
        async () => {
          await stored('there', 'x').catch(() => {})
          return put('there', 'y', { 'if-none-match': '*' })
        },
      ],
      [
        'a path shown a missing file',
        404,
        () =>
          ask({ method: 'PUT', path: `${base}/asset`, json: { path: 'a', artifactId: nobody, expectedRevision: 0 } }),
      ],
      [
        'content that is too short for its session',
        422,
        async () => sendContent(await openSession('expected'), 'short'),
      ],
      [
        'content that is too long for its session',
        422,
        async () => sendContent(await openSession('ex'), chunked('long')),
      ],
      ['content with another digest', 422, async () => sendContent(await openSession('expected'), 'unwanted')],
      ['content of another type', 415, async () => sendContent(await openSession('x'), 'x', { 'content-type': 'a/b' })],
      [
        'content for a cancelled session',
        409,
        async () => {
          const id = await openSession('cancelled')
          await cancelSession(id)
          return sendContent(id, 'cancelled')
        },
      ],
      [
        'content for a published session',
        409,
        async () => {
          const id = await openSession('published')
          assert.equal((await sendContent(id, 'published')).status, 200)
          return sendContent(id, 'published')
        },
      ],
    ]
    for (const [what, status, fail] of failures)
      it(what, async () => {
        const { pending: before } = await site.inspection.sums()
        const told = await fail()
        assert.equal(told.status, status, told.text)
        const { pending } = await site.inspection.sums()
        // A session keeps its room for another try; nothing else does.
        const sessions = await site.inspection.database.reader
          .selectFrom('claims')
          .innerJoin('uploads', 'uploads.id', 'claims.id')
          .select('claims.size')
          .where('uploads.kind', '=', 'session')
          .where('claims.state', '=', 'pending')
          .execute()
        assert.equal(
          pending,
          sessions.reduce((sum, { size }) => sum + size, 0),
        )
        assert.ok(what.includes('session') || what.includes('content') || pending === before)
        assert.deepEqual(await site.inspection.staged(), [])
        await site.inspection.upkeep()
        assert.deepEqual(await site.inspection.stored(), await digestsHeld())
      })

    it('more than the capacity, declared, in chunks and as a session', async () => {
      const { live, pending, retired } = await site.inspection.sums()
      const filler = newId(site.service.clock.now())
      const scope = { repository: 'releases', owner: 'test' }
      const room = 50_000
      const bytes = capacityBytes - live - pending - retired - room
      const transfer = await openRawTransfer(transferDeps(site.service, site.inspection, maxObjectBytes), scope, {
        kind: 'artifact',
        name: filler,
        bytes,
        digest: null,
      })
      try {
        const tooMuch = Buffer.alloc(room + 1)
        for (const told of [
          await put(fresh('f'), tooMuch),
          await put(fresh('f'), tooMuch, { 'x-checksum-sha256': digestOf(tooMuch) }),
          await put(fresh('f'), chunked(tooMuch)),
          await ask({
            path: `${base}/uploads`,
            headers: { 'idempotency-key': fresh('key') },
            json: { name: 'x', size: String(room + 1), sha256: digestOf('x') },
          }),
        ])
          assert.deepEqual([told.status, told.json.code], [507, 'storage_quota'], told.text)
        assert.equal((await site.inspection.sums()).pending, pending + bytes)
        assert.equal((await put(fresh('f'), Buffer.alloc(room))).status, 201)
      } finally {
        await abandonRawTransfer(transfer)
      }
    })

    it('a lost race: the bytes of the losers are reclaimed', async () => {
      const path = fresh('race')
      await Promise.all(Array.from({ length: 16 }, (_, index) => put(path, `${path} ${index}`)))
      await site.inspection.inOrder()
      await site.inspection.upkeep()
      assert.deepEqual(await site.inspection.stored(), await digestsHeld())
      assert.deepEqual((await site.inspection.findings()).waiting, [])
    })

    it('a cut connection: a session can be sent to again', async () => {
      const text = 'x'.repeat(50_000)
      const id = await openSession(text)
      const connection = await openConnection(site.service.url)
      connection.send(
        `PUT ${base}/uploads/${id}/content HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${site.token}\r\n` +
          `content-type: application/octet-stream\r\ncontent-length: ${text.length}\r\n\r\nhalf`,
      )
      await until('its place is there', async () => (await site.inspection.staged()).length === 1)
      const busy = await sendContent(id, text)
      assert.deepEqual([busy.status, busy.json.code], [503, 'busy'])
      connection.socket.destroy()
      await until('its place is gone', async () => (await site.inspection.staged()).length === 0)
      await site.inspection.inOrder()
      const told = await until('the turn is free', async () => {
        const again = await sendContent(id, text)
        return again.status !== 503 && again
      })
      assert.equal(told.status, 200, told.text)
    })
  })
})
