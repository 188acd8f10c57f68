import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import { closeConnections } from '../../../test/harness/client.ts'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { holdLogOf } from '../../../test/harness/held-log.ts'
import { digestOf, forgetFile, type Inspection, openInspection } from '../../../test/harness/inspection.ts'
import { inTheStore } from '../../../test/harness/kept-inline.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import { startService, type TestService } from '../../../test/harness/service.ts'
import { until } from '../../../test/harness/until.ts'
import type { Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { removalPatienceMs, removalPauseFirstMs, removalPauseLongestMs } from '../../kernel/limits/upkeep.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import type { Engines } from '../../main/engines.ts'
import { blobName, newGeneration } from '../../ports/blob-name.ts'
import { type BlobStore, unplanned } from '../../ports/blob-store.ts'
import { release, retire } from '../claims/claims.ts'
import { type OpeningDeps, openStored } from '../claims/stored-names.ts'
import { giveUpBytes } from '../claims/unheld-bytes.ts'
import { type ReclaimDeps, reclaim } from './reclaim.ts'
import { createReclaimMeter } from './reclaim-meter.ts'

after(closeConnections)

const waitingForLocks = async ({ database }: Inspection): Promise<number> => {
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(database.reader)
  return rows.length
}

forEachEngine((engine) => {
  describe('reclaim', () => {
    let service: TestService
    let inspection: Inspection
    before(async () => {
      service = await startService(engine, { onDisk: true, roles: { gateway: 'api', worker: false } })
      inspection = await openInspection(service)
    })
    after(async () => {
      await inspection.close()
      await service.stop()
    })

    it('does not forget bytes whose last claim goes while it looks', async () => {
      const put = async (name: string): Promise<string> => {
        const path = `/api/v1/repositories/releases/raw/${name}`
        const told = await service.ask({ method: 'PUT', path, credential: service.recoveryKey, body: 'shared bytes' })
        return told.json.artifact.id
      }
      const [first, last] = [await put('first'), await put('last')]
      const letGo = async (tx: Transaction, id: string): Promise<void> => {
        const now = new Date().toISOString()
        for (const table of ['asset_revisions', 'assets'] as const)
          await tx.deleteFrom(table).where('artifact_id', '=', id).execute()
        await forgetFile(tx, id)
        await retire(tx, id, now)
        await release(tx, id, now)
      }
      const { promise: gone, resolve: tellGone } = Promise.withResolvers<void>()
      const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>()
      await inspection.database.transaction((tx) => letGo(tx, first))
      // Gone for its transaction, and not yet for anybody else.
      const releasing = inspection.database.transaction(async (tx) => {
        await letGo(tx, last)
        tellGone()
        await mayCommit
      })
      await gone
      let looked = false
      const looking = reclaim(inspection).then(() => {
        looked = true
      })
      if (engine.name === 'postgres')
        await until('reclaim has looked, or waits', async () => looked || (await waitingForLocks(inspection)) > 0)
      letCommit()
      await Promise.all([releasing, looking])
      await reclaim(inspection)
      assert.deepEqual(await inspection.stored(), [])
      await inspection.inOrder()
    })
  })

  describe('removing bytes', () => {
    let service: TestService
    let inspection: Inspection
    before(async () => {
      service = await startService(engine, { settings: inTheStore, roles: { gateway: 'api', worker: false } })
      inspection = await openInspection(service)
    })
    after(async () => {
      await inspection.close()
      await service.stop()
    })
    beforeEach(() => inspection.inOrder())
    afterEach(() => inspection.inOrder())

    const place = (name: string): string => `/api/v1/repositories/releases/raw/${encodeURIComponent(name)}`
    const put = (name: string, body: string) =>
      service.ask({ method: 'PUT', path: place(name), credential: service.recoveryKey, body })
    const get = (name: string) => service.ask({ path: place(name), credential: service.recoveryKey })
    /** Stores a file and lets go of it again, its grace period included. */
    const givenUp = async (text: string): Promise<Sha256> => {
      const told = await put(text, text)
      assert.equal(told.status, 201, told.text)
      const { id } = told.json.artifact
      const now = new Date().toISOString()
      await inspection.database.transaction(async (tx) => {
        for (const table of ['asset_revisions', 'assets'] as const)
          await tx.deleteFrom(table).where('artifact_id', '=', id).execute()
        await forgetFile(tx, id)
        await retire(tx, id, now)
        await release(tx, id, now)
      })
      return toSha256(digestOf(text))
    }
    /** A process of its own that runs reclaim, with its own view of the store and the time. */
    const worker = (more: Partial<ReclaimDeps> = {}): ReclaimDeps => ({
      ...inspection,
      meter: createReclaimMeter(),
      ...more,
    })
    const inHours = (hours: number): Clock => ({ now: () => service.clock.now() + hours * 3_600_000 })
    const held = async (digest: string): Promise<boolean> => (await inspection.stored()).includes(digest)
    const removals = () => inspection.database.reader.selectFrom('removals').selectAll().execute()
    /** A store of which every removal waits, and is done when it is told to. */
    const hanging = () => {
      const began = Promise.withResolvers<void>()
      const mayLand = Promise.withResolvers<void>()
      const landed: Promise<boolean>[] = []
      const store: BlobStore = {
        ...inspection.store,
        delete(name) {
          began.resolve()
          const late = mayLand.promise.then(() => inspection.store.delete(name))
          landed.push(late)
          return late
        },
      }
      return {
        store,
        began: began.promise,
        async land() {
          mayLand.resolve()
          await Promise.all(landed)
        },
        calls: () => landed.length,
      }
    }

    it('late, hours after another worker went on and the content was stored again, hits nothing', async () => {
      const text = 'removed late'
      await givenUp(text)
      const slow = hanging()
      const first = reclaim(worker({ store: slow.store }))
      await slow.began
      assert.equal(await reclaim(worker({ clock: inHours(5) })), 1)
      const again = await put('again', text)
      assert.equal(again.status, 201, again.text)
      await slow.land()
      assert.equal(await first, 0, 'the other worker has told of it')
      assert.equal((await get('again')).text, text)
      assert.deepEqual(await removals(), [])
    })

    // Elsewhere nobody sees a row before it is durable.
    if (engine.name === 'sqlite')
      it('that another worker gave up waits until that is durable', async () => {
        const digest = await givenUp('given up, and not yet for good')
        const log = holdLogOf(() => service.databaseUrl.slice('sqlite:'.length))
        try {
          log.hold()
          const first = reclaim(worker())
          await until('it is given up', async () => (await removals()).length === 1)
          let done = false
          const waits = log.waits
          const second = reclaim(worker({ clock: inHours(5) })).finally(() => {
            done = true
          })
          await until('the other worker waits, too', async () => done || log.waits > waits)
          assert.equal(done, false)
          assert.equal(await held(digest), true)
          log.release()
          await Promise.all([first, second])
          assert.equal(await held(digest), false)
        } finally {
          log.restore()
        }
      })

    it('keeps nobody waiting who stores the same content meanwhile', async () => {
      const text = 'wanted at once'
      await givenUp(text)
      const slow = hanging()
      const reclaiming = reclaim(worker({ store: slow.store }))
      await slow.began
      const again = await put('at once', text)
      assert.equal(again.status, 201, again.text)
      // And it may go again, and be stored once more, while the first removal still hangs.
      assert.equal(await reclaim(worker()), 0)
      await givenUp('something else')
      assert.equal(await reclaim(worker()), 1)
      await slow.land()
      assert.equal(await reclaiming, 1)
      assert.equal((await get('at once')).text, text)
    })

    it('that hangs is left to itself: the others go on, and it is not begun again beside itself', async () => {
      const stuck = await givenUp('stuck')
      const name = await inspection.nameOf(stuck)
      const [timers, slow] = [new VirtualTime(), hanging()]
      const store: BlobStore = {
        ...inspection.store,
        delete: (which) => (which === name ? slow.store.delete(which) : inspection.store.delete(which)),
      }
      const reports: string[] = []
      const deps = worker({ store, timers, report: (message) => void reports.push(message) })
      const reclaiming = reclaim(deps)
      await slow.began
      const other = await givenUp('not stuck')
      timers.pass(removalPatienceMs)
      await reclaiming
      assert.match(reports.join(), /does not end a removal/)
      const next = { ...deps, clock: inHours(1) }
      await reclaim(next)
      assert.equal(slow.calls(), 1)
      assert.equal(await held(other), false)
      assert.equal(await held(stuck), true)
      await slow.land()
      assert.equal(await reclaim({ ...deps, clock: inHours(3) }), 1)
      assert.equal(await held(stuck), false)
    })

    it('that fails for good is tried less and less often, refuses nobody, and is told of', async () => {
      const text = 'cannot be removed'
      const name = await inspection.nameOf(await givenUp(text))
      let broken = true
      const store: BlobStore = {
        ...inspection.store,
        delete: async (which) => {
          if (which === name && broken) throw new Error('broken')
          return inspection.store.delete(which)
        },
      }
      const reports: string[] = []
      const deps = worker({ store, report: (message) => void reports.push(message) })
      let nowMs = service.clock.now()
      const clock: Clock = { now: () => nowMs }
      const pauses: number[] = []
      for (let tries = 0; tries < 12; tries++) {
        const other = await givenUp(`beside it ${tries}`)
        assert.equal(await reclaim({ ...deps, clock }), 1)
        assert.equal(await held(other), false)
        const [row] = await removals()
        const dueMs = Date.parse(row?.due_at ?? '')
        pauses.push(dueMs - nowMs)
        nowMs = dueMs
      }
      assert.deepEqual(
        pauses.slice(0, 3),
        [1, 2, 4].map((times) => times * removalPauseFirstMs),
      )
      assert.equal(pauses.at(-1), removalPauseLongestMs)
      assert.equal(reports.length, 12)
      assert.equal(deps.meter.seen.failures, 12)
      const again = await put('cannot', text)
      assert.equal(again.status, 201, again.text)
      assert.match((await inspection.findings()).waiting.join('\n'), new RegExp(`${name} could not be removed`))
      broken = false
      assert.equal(await reclaim({ ...deps, clock }), 1)
      assert.equal((await get('cannot')).text, text)
    })

    it('put off by a clock that ran ahead for a year is done as soon as it is put right', async () => {
      const digest = await givenUp('from the future')
      const store: BlobStore = { ...inspection.store, delete: () => Promise.reject(new Error('not yet')) }
      await reclaim(worker({ store, clock: inHours(365 * 24), report: () => {} }))
      assert.equal(await held(digest), true)
      assert.equal(await reclaim(worker()), 1)
      assert.equal(await held(digest), false)
    })

    it('of bytes that got their name after their claim and their row were gone: they are removed as well', async () => {
      const text = 'published late'
      const digest = await givenUp(text)
      const name = await inspection.nameOf(digest)
      assert.equal(await reclaim(worker()), 1)
      const late = await inspection.store.stage(randomUUID(), unplanned)
      await late.write(Buffer.from(text))
      await late.publish(name)
      await put('in time', text)
      await inspection.database.transaction((tx) => giveUpBytes(tx, name, text.length, new Date().toISOString()))
      assert.equal(await reclaim(worker()), 1)
      assert.equal((await get('in time')).text, text)
    })
  })

  describe('opening stored bytes', () => {
    const bytes = Buffer.from('some bytes')
    const digest = toSha256(digestOf(bytes))
    const file = { digest, bytes: bytes.byteLength }
    const whole = { start: 0, end: file.bytes }
    const openText = async (deps: OpeningDeps): Promise<string> =>
      Buffer.concat(
        await Array.fromAsync(await openStored(deps, file, whole), (piece) => Buffer.from(piece)),
      ).toString()
    const stored = async ({ store, database }: Engines, generation: string): Promise<void> => {
      await database.transaction(async (tx) => {
        await tx.deleteFrom('blobs').execute()
        const row = { sha256: digest, size: file.bytes, state: 'stored', stored_at: null, generation } as const
        await tx.insertInto('blobs').values(row).execute()
      })
      const place = await store.stage(randomUUID(), unplanned)
      await place.write(Uint8Array.from(bytes))
      await place.publish(blobName(digest, generation))
    }

    it('finds those from before there were generations, and those of today', async () => {
      const engines = await openOwnEngines(engine)
      for (const generation of ['', newGeneration()]) {
        await stored(engines, generation)
        assert.equal(await openText(engines), bytes.toString())
      }
    })

    it('tells bytes that were removed meanwhile (404) from those that a row goes on calling stored', async () => {
      const engines = await openOwnEngines(engine)
      await stored(engines, newGeneration())
      const [{ name } = assert.fail()] = await Array.fromAsync(engines.store.list())
      await engines.store.delete(name)
      await assert.rejects(openText(engines), /the stored bytes of .* are missing/)
      // Between the look for the name and the look for the bytes.
      const going = (then: () => Promise<unknown>): OpeningDeps => ({
        database: engines.database,
        store: {
          open: async (which, range, size) => {
            if (which === name) await then()
            return engines.store.open(which, range, size)
          },
        },
      })
      assert.equal(await openText(going(() => stored(engines, newGeneration()))), bytes.toString())
      await stored(engines, name.slice(65))
      await engines.store.delete(name)
      const removed = () => engines.database.transaction((tx) => tx.deleteFrom('blobs').execute())
      await assert.rejects(openText(going(removed)), { code: 'not_found' })
    })
  })
})
