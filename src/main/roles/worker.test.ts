import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { digestOf } from '../../../test/harness/inspection.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import { until } from '../../../test/harness/until.ts'
import { insertCandidate } from '../../content/claims/claims.queries.ts'
import { reserve } from '../../content/claims/claims.ts'
import { reclaim } from '../../content/reclaim/reclaim.ts'
import { settleDeletions } from '../../features/lifecycle/deletion/jobs.ts'
import { settleUploads, sweepUploads } from '../../features/transfers/uploads/jobs.ts'
import { createUpload } from '../../features/transfers/uploads/uploads.ts'
import { openRawTransfer } from '../../features/transfers/whole/raw-transfer.ts'
import { timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { uploadLifetimeMs } from '../../kernel/limits/transfers.ts'
import { stagingGraceMs } from '../../kernel/limits/upkeep.ts'
import { blobName } from '../../ports/blob-name.ts'
import { type BlobStore, unplanned } from '../../ports/blob-store.ts'
import type { Engines } from '../engines.ts'
import { everyUpkeep } from '../upkeep.ts'
import { startWorker } from './worker.ts'

forEachEngine((engine) => {
  /** Parts that report into a list, and whose clock may be turned forward. */
  const open = async () => {
    const reports: string[] = []
    let aheadMs = 0
    const own = await openOwnEngines(engine)
    const engines: Engines = {
      ...own,
      clock: { now: () => Date.now() + aheadMs },
      report: (message) => void reports.push(message),
    }
    const q = engines.database.reader
    return {
      parts: engines,
      reports,
      q,
      tick: (ms: number): void => {
        aheadMs += ms
      },
      common: { ...engines, cleanupGraceMs: 0 },
      uploads: {
        ...engines,
        maxObjectBytes: engines.settings.maxObjectBytes,
        capacityBytes: engines.settings.capacityBytes,
        uploadSharePercent: engines.settings.uploadSharePercent,
      },
    }
  }
  const scope = (repository: string) => ({ repository, owner: 'key:someone' })
  const incomplete = { name: 'UpkeepIncomplete' }
  /** A repository of which whatever is to be given back fails, since its counters are gone with it. */
  const poison = 'poison'
  const addPoison = ({ database }: Engines): Promise<unknown> =>
    database.transaction((tx) =>
      sql`insert into repositories (id, created_at, journal_head, published_bytes, pending_bytes, retired_bytes)
        values (${poison}, '2026', 0, 0, 0, 0)`.execute(tx),
    )
  const endPoison = ({ database }: Engines): Promise<unknown> =>
    database.transaction((tx) =>
      tx.updateTable('repositories').set({ deleted_at: '2026' }).where('id', '=', poison).execute(),
    )

  describe('the upkeep', () => {
    it('has parts that stand alone: each fails in turn, and all others go well', async () => {
      const { parts: engines, reports, q } = await open()
      for (const { name, what } of everyUpkeep) {
        await engines.database.transaction((tx) => tx.deleteFrom('upkeep_runs').execute())
        const worker = startWorker(
          engines,
          everyUpkeep.map((upkeep) =>
            upkeep.name === name ? { ...upkeep, run: () => Promise.reject(new Error('broken')) } : upkeep,
          ),
        )
        try {
          await until(`all but ${name} went well`, async () => {
            const well = (await q.selectFrom('upkeep_runs').select('name').execute()).map((row) => row.name)
            assert.ok(!well.includes(name))
            return well.length === everyUpkeep.length - 1
          })
          assert.match(reports.at(-1) ?? '', new RegExp(`${what} failed`))
        } finally {
          await worker.stop()
        }
      }
    })

    it('passes over uploads that cannot be ended', async () => {
      const { parts: engines, reports, q, tick, common, uploads } = await open()
      await addPoison(engines)
      for (const repository of [poison, 'releases']) {
        const sha256 = digestOf(repository)
        await createUpload(uploads, scope(repository), 'key', { name: 'some', size: '5', sha256 })
        await openRawTransfer(uploads, scope(repository), { kind: 'artifact', name: 'raw', bytes: 7, digest: null })
      }
      await endPoison(engines)
      tick(uploadLifetimeMs)
      await assert.rejects(settleUploads(common), incomplete)
      const open_ = q.selectFrom('uploads').select(['repository', 'kind']).where('status', '=', 'pending')
      assert.deepEqual(
        (await open_.execute()).map(({ repository }) => repository),
        [poison, poison],
      )
      assert.equal(reports.length, 2)
    })

    it('passes over claims that cannot be given back', async () => {
      const { parts: engines, reports, q, common } = await open()
      await addPoison(engines)
      const now = timestamp(Date.now() - 1_000)
      for (const repository of [poison, 'releases'])
        await engines.database.transaction(async (tx) => {
          const id = `claim-${repository}`
          await reserve(tx, { id, repository, holder: 'artifact', digest: null, bytes: 3 }, Number.MAX_SAFE_INTEGER)
          await tx.updateTable('claims').set({ state: 'retired', retired_at: now }).where('id', '=', id).execute()
          await tx
            .updateTable('repositories')
            .set({ pending_bytes: 0, retired_bytes: 3 })
            .where('id', '=', repository)
            .execute()
        })
      await endPoison(engines)
      await assert.rejects(settleDeletions(common), incomplete)
      const left = await q.selectFrom('claims').select('repository').execute()
      assert.deepEqual(left, [{ repository: poison }])
      assert.match(reports.join(), /claim-poison/)
    })

    it('passes over staged places that cannot be removed', async () => {
      const { parts: engines, reports, tick, common } = await open()
      const places = ['bad', 'good', 'other'].map((name) => `${name}-${randomUUID()}`)
      for (const place of places) await (await engines.store.stage(place, unplanned)).write(Buffer.from('left behind'))
      const store: BlobStore = {
        ...engines.store,
        discardStaged: (place) =>
          place === places[0] ? Promise.reject(new Error('cannot be removed')) : engines.store.discardStaged(place),
      }
      await until('all are there', async () => (await Array.fromAsync(engines.store.listStaged())).length === 3)
      tick(2 * stagingGraceMs)
      await assert.rejects(sweepUploads({ ...common, store }), incomplete)
      const left = (await Array.fromAsync(engines.store.listStaged())).map(({ place }) => place)
      assert.deepEqual(left, [places[0]])
      assert.equal(reports.length, 1)
    })

    it('leaves a staged place alone that was begun long ago and still grows', async () => {
      const { parts: engines, tick, common } = await open()
      const place = randomUUID()
      await (await engines.store.stage(place, unplanned)).write(Buffer.from('slowly'))
      await until('it is there', async () => (await Array.fromAsync(engines.store.listStaged())).length === 1)
      tick(2 * stagingGraceMs)
      let writtenMs = common.clock.now() - stagingGraceMs / 2
      const store: BlobStore = {
        ...engines.store,
        async *listStaged() {
          for await (const remains of engines.store.listStaged())
            yield { ...remains, lastWrittenMs: () => Promise.resolve(writtenMs) }
        },
      }
      assert.equal(await sweepUploads({ ...common, store }), 0)
      writtenMs -= stagingGraceMs
      assert.equal(await sweepUploads({ ...common, store }), 1)
      assert.deepEqual(await Array.fromAsync(engines.store.listStaged()), [])
    })

    it('passes over blobs that cannot be given up', async () => {
      const { parts: engines, reports, q } = await open()
      const digests = ['first', 'second', 'third'].map((text) => toSha256(digestOf(text))).sort()
      const [bad = ''] = digests
      const now = timestamp(Date.now())
      await engines.database.transaction(async (tx) => {
        for (const sha256 of digests) {
          const row = { sha256, size: 5, state: 'stored', stored_at: now, generation: '' } as const
          await tx.insertInto('blobs').values(row).execute()
          await insertCandidate(tx, sha256, now)
        }
        // Damage: a file that claims nothing keeps the row of its blob.
        const times = { created_at: now, expires_at: now, published_at: now }
        const file = { id: randomUUID(), repository: 'releases', name: 'damaged', size: 5, sha256: bad }
        await tx
          .insertInto('artifacts')
          .values({ ...file, ...times, labels: '[]', metadata: '{}' })
          .execute()
      })
      await assert.rejects(reclaim(engines), incomplete)
      assert.deepEqual(await q.selectFrom('blobs').select('sha256').execute(), [{ sha256: bad }])
      assert.deepEqual(await q.selectFrom('removals').select('name').execute(), [])
      assert.match(reports.join(), new RegExp(bad))
      assert.equal(await engines.store.size(blobName(toSha256(bad), '')), null)
    })
  })
})
