import assert from 'node:assert/strict'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { release, retire } from '../../src/content/claims/claims.ts'
import { createHashing } from '../../src/content/hashing/hashing.ts'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import type { Transaction } from '../../src/database/database.ts'
import { createLeftTurns } from '../../src/features/transfers/uploads/left-turns.ts'
import type { TransferParts } from '../../src/features/transfers/uploads/uploads.ts'
import {
  abandonRawTransfer,
  openRawTransfer,
  type RawTransfer,
} from '../../src/features/transfers/whole/raw-transfer.ts'
import { timestamp } from '../../src/kernel/clock.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  capacityBytesDefault,
  cleanupGraceHoursDefault,
  uploadLifetimeMs,
  uploadTurnMs,
} from '../../src/kernel/limits/transfers.ts'
import { removalPauseFirstMs, stagingGraceMs } from '../../src/kernel/limits/upkeep.ts'
import { minute } from '../../src/kernel/units.ts'
import { unplanned } from '../../src/ports/blob-store.ts'
import { type Backstage, chunked, digestOf, forgetFile, openBackstage } from '../harness/backstage.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

const base = '/api/v1/repositories/releases'
const nobody = '00000000-0000-7000-8000-000000000000'
const maxObjectBytes = 100_000
const capacityBytes = 10_000_000
const graceMs = cleanupGraceHoursDefault * 60 * minute

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let backstage: Backstage
  let owner: Person
  let token: string

  before(async () => {
    service = await startService(engine, {
      onDisk: true,
      roles: { gateway: 'api', worker: false },
      settings: { SVC_MAX_OBJECT_BYTES: String(maxObjectBytes), SVC_CAPACITY_BYTES: String(capacityBytes) },
    })
    owner = await createOwner(service)
    token = owner.token
    backstage = await openBackstage(service)
  })
  after(() => backstage.inOrder())
  after(async () => {
    await backstage.close()
    await service.stop()
  })
  // Whatever a test did or broke: every sum is right, and in the end nothing is damaged.
  afterEach(() => backstage.sums())

  let count = 0
  const fresh = (what: string): string => `${what}-${++count}`
  const ask = (asked: Ask): Promise<Told> => service.ask({ credential: token, ...asked })
  const put = (path: string, body: Ask['body'], headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
    ask({ method: 'PUT', path: `${base}/raw/${path}`, body: body ?? '', headers })
  const stored = async (path: string, body: Ask['body']): Promise<Told> => {
    const told = await put(path, body)
    assert.equal(told.status, 201, told.text)
    return told
  }
  const openSession = async (text: string): Promise<string> => {
    const told = await ask({
      path: `${base}/uploads`,
      headers: { 'idempotency-key': fresh('key') },
      json: { name: 'file', size: String(Buffer.byteLength(text)), sha256: digestOf(text) },
    })
    assert.equal(told.status, 201, told.text)
    return told.json.id
  }
  const cancelSession = (id: string): Promise<Told> => ask({ method: 'DELETE', path: `${base}/uploads/${id}` })
  /** The first part, which is all of a short file. */
  const sendPart = async (id: string, text: string): Promise<void> => {
    const headers = { 'content-type': 'application/octet-stream', 'x-content-sha256': digestOf(text) }
    const told = await ask({ method: 'PUT', path: `${base}/uploads/${id}/parts/0`, body: text, headers })
    assert.equal(told.status, 204, told.text)
  }
  const sendContent = (id: string, body: Ask['body'], headers: Readonly<Record<string, string>> = {}): Promise<Told> =>
    ask({
      method: 'PUT',
      path: `${base}/uploads/${id}/content`,
      body: body ?? '',
      headers: { 'content-type': 'application/octet-stream', ...headers },
    })
  /** Time goes by, and the owner signs in again. */
  const pass = async (ms: number): Promise<void> => {
    service.clock.advance(ms)
    const { name, password } = owner
    const told = await service.ask({ path: '/api/v1/auth/login', json: { name, password } })
    assert.equal(told.status, 200, told.text)
    token = told.json.token
  }
  /** Ends the claim of what was published, its grace period included. */
  const letGo = async (tx: Transaction, id: string): Promise<void> => {
    const now = timestamp(service.clock.now())
    await retire(tx, id, now)
    await release(tx, id, now)
  }
  /** Deletes the file at a path, as deleting will do it: holder and claim go together. */
  const drop = (path: string): Promise<void> =>
    backstage.database.transaction(async (tx) => {
      const { artifact_id } = await tx
        .selectFrom('assets')
        .select('artifact_id')
        .where('path', '=', path)
        .executeTakeFirstOrThrow()
      await tx.deleteFrom('assets').where('path', '=', path).execute()
      await tx.deleteFrom('asset_revisions').where('path', '=', path).execute()
      await forgetFile(tx, artifact_id)
      await letGo(tx, artifact_id)
    })
  const reclaimOnce = (): Promise<number> => reclaim(backstage)
  const digestsHeld = async (): Promise<string[]> => {
    const rows = await backstage.database.reader.selectFrom('artifacts').select('sha256').distinct().execute()
    return rows.map(({ sha256 }) => sha256).sort()
  }
  const uploadParts = (): TransferParts => ({
    database: backstage.database,
    store: backstage.store,
    clock: service.clock,
    freeSpace: { writable: async () => true, roomBytes: async () => null, refuseUnlessRoomFor: async () => {} },
    uploadSharePercent: 100,
    hashing: createHashing({ saveable: false, report: assert.fail }),
    capacityBytes: capacityBytesDefault,
    maxObjectBytes,
    reach: noFaults,
    leftTurns: createLeftTurns(),
    report: (message, error) => assert.fail(new Error(message, { cause: error })),
  })
  /** What a process leaves that dies while a file comes in. */
  const plantTransfer = async (bytes: number): Promise<RawTransfer> => {
    const scope = { repository: 'releases', owner: `account:${owner.id}` }
    const digest = toSha256(digestOf(fresh('planted')))
    const transfer = await openRawTransfer(uploadParts(), scope, { kind: 'artifact', name: 'planted', bytes, digest })
    await plantPlace(transfer.holder)
    return transfer
  }
  const plantPlace = async (id: string): Promise<void> => {
    const place = await backstage.store.stage(id, unplanned)
    await place.write(Buffer.from('half of it'))
    engine.use({ [Symbol.asyncDispose]: () => place.discard() })
    const [name = ''] = await until('the place is there', async () => {
      const names = (await backstage.staged()).filter((each) => each.includes(id))
      return names.length === 1 && names
    })
    // As old as the clock of the service says, which the tests turn forward.
    const seconds = service.clock.now() / 1000
    await utimes(join(service.dataDir, 'staging', name), seconds, seconds)
  }
  const placesOf = async (id: string): Promise<number> =>
    (await backstage.staged()).filter((name) => name.includes(id)).length

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
        const { pending: before } = await backstage.sums()
        const told = await fail()
        assert.equal(told.status, status, told.text)
        const { pending } = await backstage.sums()
        // A session keeps its room for another try; nothing else does.
        const sessions = await backstage.database.reader
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
        assert.deepEqual(await backstage.staged(), [])
        await backstage.upkeep()
        assert.deepEqual(await backstage.stored(), await digestsHeld())
      })

    it('more than the capacity, declared, in chunks and as a session', async () => {
      const { live, pending, retired } = await backstage.sums()
      const filler = newId(service.clock.now())
      const scope = { repository: 'releases', owner: 'test' }
      const room = 50_000
      const bytes = capacityBytes - live - pending - retired - room
      const transfer = await openRawTransfer(uploadParts(), scope, {
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
        assert.equal((await backstage.sums()).pending, pending + bytes)
        assert.equal((await put(fresh('f'), Buffer.alloc(room))).status, 201)
      } finally {
        await abandonRawTransfer(transfer)
      }
    })

    it('a lost race: the bytes of the losers are reclaimed', async () => {
      const path = fresh('race')
      await Promise.all(Array.from({ length: 16 }, (_, index) => put(path, `${path} ${index}`)))
      await backstage.inOrder()
      await backstage.upkeep()
      assert.deepEqual(await backstage.stored(), await digestsHeld())
      assert.deepEqual((await backstage.findings()).waiting, [])
    })

    it('a cut connection: a session can be sent to again', async () => {
      const text = 'x'.repeat(50_000)
      const id = await openSession(text)
      const connection = await openConnection(service.url)
      connection.send(
        `PUT ${base}/uploads/${id}/content HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n` +
          `content-type: application/octet-stream\r\ncontent-length: ${text.length}\r\n\r\nhalf`,
      )
      await until('its place is there', async () => (await backstage.staged()).length === 1)
      const busy = await sendContent(id, text)
      assert.deepEqual([busy.status, busy.json.code], [503, 'busy'])
      connection.socket.destroy()
      await until('its place is gone', async () => (await backstage.staged()).length === 0)
      await backstage.inOrder()
      const told = await until('the turn is free', async () => {
        const again = await sendContent(id, text)
        return again.status !== 503 && again
      })
      assert.equal(told.status, 200, told.text)
    })
  })

  describe('upkeep', () => {
    it('cancels expired sessions that nobody sends to, and releases them after the grace period', async () => {
      const text = fresh('expires')
      const id = await openSession(text)
      const busy = await openSession(text)
      await sendPart(busy, text)
      const claims = async (): Promise<unknown> =>
        await backstage.database.reader
          .selectFrom('claims')
          .select('state')
          .where('id', 'in', [id, busy])
          .orderBy('id')
          .execute()
      const state = async (of: string): Promise<string> => (await ask({ path: `${base}/uploads/${of}` })).json.status
      await pass(uploadLifetimeMs - minute)
      await backstage.upkeep()
      assert.deepEqual([await state(id), await state(busy)], ['pending', 'pending'])
      await pass(2 * minute)
      const expired = await sendContent(id, text)
      assert.deepEqual([expired.status, expired.json.code], [409, 'upload_state'])
      await backstage.database.transaction(async (tx) => {
        const turn_until = timestamp(service.clock.now() + uploadTurnMs)
        await tx.updateTable('uploads').set({ turn_holder: nobody, turn_until }).where('id', '=', busy).execute()
      })
      await backstage.upkeep()
      assert.deepEqual([await state(id), await state(busy)], ['cancelled', 'pending'])
      // Nothing of the first came, so that its room is free at once.
      assert.deepEqual(await claims(), [{ state: 'pending' }])
      await pass(uploadTurnMs + 1)
      await backstage.upkeep()
      assert.equal(await state(busy), 'cancelled')
      assert.deepEqual(await claims(), [{ state: 'retired' }])
      await pass(graceMs + minute)
      await backstage.upkeep()
      assert.deepEqual(await claims(), [])
      assert.equal((await backstage.sums()).retired, 0)
    })

    it('keeps what came of a cancelled session for the grace period, and its record for seven days', async () => {
      const { pending, retired } = await backstage.sums()
      const id = await openSession('twelve bytes')
      await sendPart(id, 'twelve bytes')
      await cancelSession(id)
      const sums = await backstage.sums()
      assert.deepEqual([sums.pending, sums.retired], [pending, retired + 12])
      await pass(graceMs - minute)
      await backstage.upkeep()
      assert.equal((await backstage.sums()).retired, retired + 12)
      await pass(2 * minute)
      await backstage.upkeep()
      assert.equal((await backstage.sums()).retired, 0)
      assert.equal((await cancelSession(id)).json.status, 'cancelled')
      await pass(uploadLifetimeMs - graceMs - 5 * minute)
      await backstage.upkeep()
      assert.equal((await ask({ path: `${base}/uploads/${id}` })).json.status, 'cancelled')
      await pass(10 * minute)
      await backstage.upkeep()
      assert.equal((await ask({ path: `${base}/uploads/${id}` })).status, 404)
    })

    it('ends transfers whose process died, once their lease has lapsed, and leaves live ones alone', async () => {
      const { pending } = await backstage.sums()
      const dead = await plantTransfer(1_000)
      await backstage.upkeep()
      assert.equal((await backstage.sums()).pending, pending + 1_000)
      await pass(uploadTurnMs + 1)
      const living = await plantTransfer(2_000)
      await backstage.upkeep()
      assert.equal((await backstage.sums()).pending, pending + 2_000)
      assert.deepEqual([await placesOf(dead.holder), await placesOf(living.holder)], [1, 1])
      await pass(stagingGraceMs)
      // Its holder renewed the lease meanwhile.
      await backstage.database.transaction(async (tx) => {
        const turn_until = timestamp(service.clock.now() + uploadTurnMs)
        await tx.updateTable('uploads').set({ turn_until }).where('id', '=', living.row.id).execute()
      })
      await backstage.upkeep()
      assert.deepEqual([await placesOf(dead.holder), await placesOf(living.holder)], [0, 1])
      await abandonRawTransfer(living)
      assert.equal((await backstage.sums()).pending, pending)
      await backstage.upkeep()
      assert.equal(await placesOf(living.holder), 0)
    })

    it('sweeps old places that belong to nobody, not young ones', async () => {
      const id = newId(service.clock.now())
      await plantPlace(id)
      await pass(stagingGraceMs - minute)
      await backstage.upkeep()
      assert.equal(await placesOf(id), 1)
      await pass(minute)
      await backstage.upkeep()
      assert.equal(await placesOf(id), 0)
    })

    it('is done by a worker without being asked', async () => {
      const { pending } = await backstage.sums()
      const text = fresh('forgotten')
      const path = fresh('dropped')
      await stored(path, text)
      await drop(path)
      await openSession('cancelled soon').then(cancelSession)
      const dead = await plantTransfer(500)
      await pass(graceMs + minute)
      const worker = await startService(engine, { onDisk: true, on: service, roles: { gateway: null, worker: true } })
      try {
        await until('the bytes are gone', async () => !(await backstage.stored()).includes(digestOf(text)))
        await until('the place is gone', async () => (await placesOf(dead.holder)) === 0)
        await until('nothing waits', async () => (await backstage.findings()).waiting.length === 0)
        const sums = await backstage.sums()
        assert.deepEqual([sums.pending, sums.retired], [pending, 0])
      } finally {
        await worker.stop()
      }
    })
  })

  describe('reclaim', () => {
    it('removes bytes that nobody claims, and their row', async () => {
      const text = fresh('unclaimed')
      await stored('unclaimed', text)
      await drop('unclaimed')
      assert.ok((await backstage.stored()).includes(digestOf(text)))
      assert.equal((await backstage.findings()).waiting.length, 1)
      await backstage.inOrder()
      assert.equal(await reclaimOnce(), 1)
      assert.equal(await reclaimOnce(), 0)
      assert.ok(!(await backstage.stored()).includes(digestOf(text)))
      const rows = backstage.database.reader.selectFrom('blobs').select('sha256').where('sha256', '=', digestOf(text))
      assert.deepEqual(await rows.execute(), [])
      assert.deepEqual((await backstage.findings()).waiting, [])
      await stored('unclaimed', text)
      assert.equal((await ask({ path: `${base}/raw/unclaimed` })).text, text)
    })

    it('never removes bytes that another path, an older revision or a session still holds', async () => {
      const text = fresh('shared')
      const holds = async (): Promise<boolean> => {
        await reclaimOnce()
        await backstage.inOrder()
        return (await backstage.stored()).includes(digestOf(text))
      }
      const [one, two, three] = [fresh('one'), fresh('two'), fresh('three')]
      await stored(one, text)
      await stored(two, text)
      await drop(one)
      assert.ok(await holds())
      assert.equal((await ask({ path: `${base}/raw/${two}` })).text, text)
      await stored(three, text)
      await stored(three, 'replaced')
      await drop(two)
      assert.ok(await holds())
      const session = await openSession(text)
      await sendPart(session, text)
      // Both revisions of the third path go.
      const rows = await backstage.database.reader
        .selectFrom('asset_revisions')
        .select('artifact_id')
        .where('path', '=', three)
        .where('revision', '=', 1)
        .execute()
      await drop(three)
      for (const { artifact_id } of rows)
        await backstage.database.transaction(async (tx) => {
          await forgetFile(tx, artifact_id)
          await letGo(tx, artifact_id)
        })
      assert.ok(await holds())
      await cancelSession(session)
      assert.ok(await holds())
      await pass(graceMs + minute)
      await backstage.upkeep()
      assert.ok(!(await holds()))
    })

    it('tries a removal again that failed, and after a while', async () => {
      const text = fresh('slow')
      const path = fresh('slow')
      await stored(path, text)
      await drop(path)
      const failing = { ...backstage.store, delete: () => Promise.reject(new Error('died here')) }
      const reports: string[] = []
      const report = (message: string): void => void reports.push(message)
      assert.equal(await reclaim({ ...backstage, store: failing, report }), 0)
      assert.match(reports.join(), new RegExp(`${digestOf(text)} could not be removed`))
      assert.equal(await reclaimOnce(), 0)
      assert.ok((await backstage.stored()).includes(digestOf(text)))
      await pass(removalPauseFirstMs)
      assert.equal(await reclaimOnce(), 1)
      assert.ok(!(await backstage.stored()).includes(digestOf(text)))
      await stored(path, text)
    })

    it('does not lose bytes that are uploaded again and again while it removes them', async () => {
      const text = `contested ${'x'.repeat(10_000)}`
      let running = true
      const reclaiming = [1, 2].map(async () => {
        let removed = 0
        while (running) {
          removed += await reclaimOnce()
          // On SQLite a look at an empty queue never leaves the microtasks.
          await immediate()
        }
        return removed
      })
      const check = async (path: string): Promise<void> => {
        const got = await ask({ path })
        assert.equal(got.status, 200, got.text)
        assert.ok(got.text === text)
      }
      const rawWriter = async (name: string): Promise<void> => {
        for (let round = 0; round < 15; round++) {
          const path = `${name}/${round % 2}`
          const headers = round % 3 === 0 ? {} : { 'x-checksum-sha256': digestOf(text) }
          const told = await put(path, round % 2 === 0 ? text : chunked(text), headers)
          assert.equal(told.status, 201, told.text)
          await check(`${base}/raw/${path}`)
          await drop(path)
        }
      }
      const sessionWriter = async (): Promise<void> => {
        for (let round = 0; round < 10; round++) {
          const id = await openSession(text)
          const told = await sendContent(id, text)
          assert.equal(told.status, 200, told.text)
          await check(`${base}/artifacts/${id}/content`)
          await backstage.database.transaction(async (tx) => {
            await forgetFile(tx, id)
            await letGo(tx, id)
          })
        }
      }
      try {
        await Promise.all([rawWriter(fresh('w')), rawWriter(fresh('w')), sessionWriter()])
        await stored('survivor', text)
      } finally {
        running = false
      }
      const [one = 0, two = 0] = await Promise.all(reclaiming)
      assert.ok(one + two > 0, 'reclaim had something to remove')
      await reclaimOnce()
      await check(`${base}/raw/survivor`)
      await backstage.inOrder()
      assert.deepEqual(await backstage.stored(), await digestsHeld())
    })
  })
})
