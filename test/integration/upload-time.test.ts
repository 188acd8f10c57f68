import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { uploadLeaseMs, uploadLifetimeMs } from '../../src/kernel/limits/transfers.ts'
import { hour } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { sendPart } from '../harness/parts.ts'
import { newFile } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { until } from '../harness/until.ts'
import { uploadSessions } from '../harness/upload-sessions.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = uploadSessions(engine)
  const { inOrder, signInAgain, open, opened, send, read, cancel, refused, idOf, rowOf, left, staged, byHand, begin } =
    site

  describe('time and room', () => {
    /** Goes on by so much, in which sessions of people end. */
    const later = async (milliseconds: number): Promise<void> => {
      site.service.clock.advance(milliseconds)
      await signInAgain()
    }
    const has = (table: 'claims' | 'uploads', upload: string): Promise<boolean> =>
      inDatabase(
        site.service,
        async (q) => (await q.selectFrom(table).select('id').where('id', '=', idOf(upload)).execute()).length > 0,
      )
    /** Upkeep begins with a run when the service starts. */
    const gone = async (table: 'claims' | 'uploads', upload: string): Promise<void> => {
      await site.service.restart()
      await until(`${upload} is gone from ${table}`, async () => !(await has(table, upload)))
    }

    it('a request that falls silent loses its turn to another, and the file is published once', async () => {
      const file = newFile('silent', 'silent bytes')
      const upload = await opened(file)
      const connection = await begin(upload, 12, 'silent')
      refused(await send(upload, file.bytes), 503, 'busy')
      site.service.clock.advance(uploadLeaseMs)
      assert.equal((await send(upload, file.bytes)).status, 200)
      const earlier = await left()
      connection.send(' bytes')
      assert.match(await connection.ended(), /^HTTP\/1\.1 409 [\s\S]*"code":"upload_state"/)
      assert.deepEqual(await left(), earlier)
      assert.deepEqual(await staged(), [])
    })

    it('reserves within the capacity, 507 beyond it, and gives room back when the grace period is over', async () => {
      const { reserved } = await left()
      await site.service.restart({ SVC_CAPACITY_BYTES: String(reserved + 1000) })
      // What sessions before this one named is forgotten by the run that begins with the service, and counted below.
      await until('no digest waits to be looked at', () =>
        inDatabase(
          site.service,
          async (q) => (await q.selectFrom('reclaim_candidates').select('sha256').execute()).length === 0,
        ),
      )
      const sized = (size: number) => ({ ...newFile(`sized ${size}`, randomUUID()).descriptor, size: String(size) })
      const full = async (size: number): Promise<void> => {
        const earlier = await left()
        refused(await open(sized(size)), 507, 'storage_quota')
        assert.deepEqual(await left(), earlier)
      }
      await full(1001)
      const race = await Promise.all([600, 600, 600, 600].map((size) => open(sized(size))))
      assert.deepEqual(race.map(({ status }) => status).sort(), [201, 507, 507, 507])
      const first = String(race.find(({ status }) => status === 201)?.headers.location)
      await full(401)
      const description = sized(400)
      const key = randomUUID()
      const last = await open(description, key)
      assert.equal(last.status, 201)
      const second = String(last.headers.location)
      await full(1)
      // What takes no room is still welcome, and so is a repetition.
      assert.equal((await open(sized(0))).status, 201)
      assert.equal((await open(description, key)).status, 200)

      // Something of each came, which stays until the grace period is over.
      for (const [upload, size] of [
        [first, 600],
        [second, 400],
      ] as const) {
        const part = await sendPart(site.service, site.writer.token, upload, 0, Buffer.alloc(size))
        assert.equal(part.status, 204, part.text)
      }
      assert.equal((await cancel(first)).status, 200)
      await full(1)
      await later(hour)
      assert.equal((await cancel(second)).status, 200)
      await full(1)
      await later(23 * hour)
      await site.service.restart({ SVC_CAPACITY_BYTES: String(reserved + 1000) })
      await until('the first is released', async () => !(await has('claims', first)))
      // The run that released the first saw the second, whose hour is not over.
      assert.equal(await has('claims', second), true)
      assert.equal((await read(first)).json.status, 'cancelled')
      await later(hour)
      await gone('claims', second)
      const { sha256 } = description
      await until('the digest that nobody claims is forgotten', () =>
        inDatabase(
          site.service,
          async (q) => (await q.selectFrom('blobs').selectAll().where('sha256', '=', sha256).execute()).length === 0,
        ),
      )
      assert.equal((await cancel(second)).status, 200)
      const again = await open(sized(1000))
      assert.equal(again.status, 201, again.text)
    })

    it('takes nothing while the disk is nearly full, and the session waits; an object store has no such end', async () => {
      const file = newFile('no disk', 'no disk')
      const upload = await opened(file)
      await site.service.restart({ SVC_FREE_SPACE_RESERVE_BYTES: '9000000000000000' })
      if (site.service.blobStoreUrl === '') {
        const earlier = await left()
        refused(await open(newFile('neither', 'neither').descriptor), 507, 'insufficient_space')
        refused(await send(upload, file.bytes), 507, 'insufficient_space')
        assert.deepEqual(await left(), earlier)
        await site.service.restart()
      }
      assert.equal((await send(upload, file.bytes)).status, 200)
      await site.service.restart()
    })

    it('gives a request up that does not end within the deadline, and takes another', async () => {
      const file = newFile('slow', 'slow')
      const upload = await opened(file)
      await site.service.restart({ SVC_UPLOAD_DEADLINE_SECONDS: '1' })
      const connection = await byHand(upload, ['Content-Length: 4', 'Connection: close'], 'sl')
      assert.match(await connection.ended(), /^HTTP\/1\.1 408 [\s\S]*"code":"upload_deadline"/)
      assert.equal((await rowOf(upload)).turn_holder, null)
      assert.deepEqual(await staged(), [])
      assert.equal((await send(upload, file.bytes)).status, 200)
      await site.service.restart()
    })

    it('a session that expired takes nothing, is cancelled, and is forgotten after seven more days', async () => {
      const file = newFile('expires', `expires ${randomUUID()}`)
      const key = randomUUID()
      const first = await open(file.descriptor, key)
      const upload = String(first.headers.location)
      const published = await opened(file)
      assert.equal((await send(published, file.bytes)).status, 200)
      await later(uploadLifetimeMs - 60_000)
      assert.equal((await read(upload)).json.status, 'pending')
      await later(60_000)
      refused(await send(upload, file.bytes), 409, 'upload_state')
      await site.service.restart()
      await until('it is cancelled', async () => (await read(upload)).json.status === 'cancelled')
      refused(await send(upload, file.bytes), 409, 'upload_state')
      const replayed = await open(file.descriptor, key)
      assert.equal(replayed.status, 200)
      assert.deepEqual(replayed.json, { ...first.json, status: 'cancelled' })
      assert.equal((await cancel(upload)).status, 200)

      await later(uploadLifetimeMs)
      await gone('uploads', upload)
      refused(await read(upload), 404, 'not_found')
      const anew = await open(file.descriptor, key)
      assert.equal(anew.status, 201)
      assert.notEqual(anew.json.id, first.json.id)
      // The session of what was published is forgotten, too; the file is not.
      await until('it is forgotten', async () => !(await has('uploads', published)))
      const content = await read(`${published.replace('/uploads/', '/artifacts/')}/content`)
      assert.deepEqual(content.bytes, file.bytes)
    })

    it('a request that began in time may end after the session would have expired', async () => {
      const file = newFile('in time', 'just in time')
      const upload = await opened(file)
      await later(uploadLifetimeMs - 5000)
      const connection = await begin(upload, 12, 'just ')
      site.service.clock.advance(6000)
      connection.send('in time')
      assert.match(await connection.ended(), /^HTTP\/1\.1 200 [\s\S]*"status":"available"/)
    })
  })

  it('all of this left every counter and every claim as the checks want them', () => inOrder())
})
