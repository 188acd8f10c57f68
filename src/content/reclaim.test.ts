import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { type Backstage, digestOf, openBackstage } from '../../test/harness/backstage.ts'
import { closeConnections } from '../../test/harness/client.ts'
import { forEachEngine } from '../../test/harness/engines.ts'
import { startService, type TestService } from '../../test/harness/service.ts'
import { until } from '../../test/harness/until.ts'
import type { Transaction } from '../database/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { toSha256 } from '../kernel/digest.ts'
import { reclaimLeaseMs } from '../kernel/limits.ts'
import { type BlobStore, unplanned } from '../ports/blob-store.ts'
import { release, retire } from './claims.ts'
import { reclaim } from './reclaim.ts'
import { queueBytes } from './reclaim-queue.ts'

after(closeConnections)

const waitingForLocks = async ({ database }: Backstage): Promise<number> => {
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(database.reader)
  return rows.length
}

forEachEngine((engine) => {
  describe('reclaim', () => {
    let service: TestService
    let backstage: Backstage
    before(async () => {
      service = await startService(engine, { onDisk: true, roles: { gateway: 'api', worker: false } })
      backstage = await openBackstage(service)
    })
    after(async () => {
      await backstage.close()
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
        await tx.deleteFrom('artifacts').where('id', '=', id).execute()
        await retire(tx, id, now)
        await release(tx, id, now)
      }
      const { promise: gone, resolve: tellGone } = Promise.withResolvers<void>()
      const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>()
      await backstage.database.transaction((tx) => letGo(tx, first))
      // Gone for its transaction, and not yet for anybody else.
      const releasing = backstage.database.transaction(async (tx) => {
        await letGo(tx, last)
        tellGone()
        await mayCommit
      })
      await gone
      let looked = false
      const looking = reclaim(backstage).then(() => {
        looked = true
      })
      if (engine.name === 'postgres')
        await until('reclaim has looked, or waits', async () => looked || (await waitingForLocks(backstage)) > 0)
      letCommit()
      await Promise.all([releasing, looking])
      await reclaim(backstage)
      assert.deepEqual(await backstage.stored(), [])
      await backstage.inOrder()
    })

    it('run by two, of whom one takes over from a stalled one: the row goes with the second, and a later upload keeps its bytes', async () => {
      const text = 'contested'
      const digest = toSha256(digestOf(text))
      const path = '/api/v1/repositories/releases/raw/contested'
      const place = await backstage.store.stage('forgotten', unplanned)
      await place.write(Buffer.from(text))
      await place.publish(digest)
      await backstage.database.transaction((tx) => queueBytes(tx, digest, text.length, new Date().toISOString()))

      const { promise: firstRemoved, resolve: tellRemoved } = Promise.withResolvers<void>()
      const { promise: secondMarked, resolve: tellMarked } = Promise.withResolvers<void>()
      const { promise: firstDone, resolve: tellDone } = Promise.withResolvers<void>()
      // The first has removed the bytes and stalls before it says so.
      const stalling: BlobStore = {
        ...backstage.store,
        delete: async (which) => {
          const was = await backstage.store.delete(which)
          tellRemoved()
          await secondMarked
          return was
        },
      }
      // The second has marked and is about to remove them while the first goes on.
      const late: BlobStore = {
        ...backstage.store,
        delete: async (which) => {
          tellMarked()
          await firstDone
          return backstage.store.delete(which)
        },
      }
      const later: Clock = { now: () => service.clock.now() + reclaimLeaseMs + 1 }
      const first = reclaim({ ...backstage, store: stalling })
      await firstRemoved
      const second = reclaim({ ...backstage, store: late, clock: later })
      await first
      // An upload of the same bytes has to wait for the second, which is still to remove them.
      const uploading = service.ask({ method: 'PUT', path, credential: service.recoveryKey, body: text })
      const state = await backstage.database.reader.selectFrom('blobs').select('state').executeTakeFirst()
      assert.equal(state?.state, 'reclaiming')
      tellDone()
      await second
      assert.equal((await uploading).status, 201)
      assert.equal((await service.ask({ path, credential: service.recoveryKey })).text, text)
      await backstage.inOrder()
    })
  })
})
