import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { madeAtMs } from '../../kernel/ids.ts'
import { stagingGraceMs, upkeepBatch } from '../../kernel/limits/upkeep.ts'
import type { upkeepRun } from '../../kernel/one-by-one.ts'
import type { BlobStore, StagedRemains } from '../../ports/blob-store.ts'
import { deleteAssembly, endedAssemblies, knownPlaces } from './assembly.queries.ts'

export interface StagingDeps {
  readonly database: Database
  readonly store: BlobStore
  readonly clock: Clock
}

type Run = ReturnType<typeof upkeepRun>

/**
 * Removes staging places that nobody writes to: those of dead processes. `inUse` says which of some places a transfer
 * is writing to; assemblies are known here. Young ones are left alone, because their row may not have been visible yet;
 * young by the store's clock or by that of the process that named them, which may not agree with ours. So are those
 * that still grow: bytes of a backup come back without a transfer that anybody could see. One that cannot be removed is
 * passed over. Returns how many went.
 */
export const sweepStaging = async (
  deps: StagingDeps,
  run: Run,
  inUse: (remains: readonly StagedRemains[]) => Promise<ReadonlySet<string>>,
): Promise<number> => {
  const { database, store, clock } = deps
  let swept = 0
  const sweep = async (old: readonly StagedRemains[]): Promise<void> => {
    if (old.length === 0) return
    const used = await inUse(old)
    const places = new Map(old.flatMap((remains) => (used.has(remains.place) ? [] : [[remains.place, remains]])))
    const assemblies = new Set(places.size === 0 ? [] : await knownPlaces(database.reader, [...places.keys()]))
    // What knew them no more is gone for good, also after a power cut (I2).
    await database.settled()
    for (const [place, remains] of places) {
      if (assemblies.has(place)) continue
      await run.attempt(`removing the staging place ${place}`, async () => {
        if (clock.now() - ((await remains.lastWrittenMs?.()) ?? 0) < stagingGraceMs) return
        await store.discardStaged(place)
        swept += 1
      })
    }
  }
  await run.attempt('the look through staging', async () => {
    let batch: StagedRemains[] = []
    for await (const remains of store.listStaged()) {
      const now = clock.now()
      if (now - latestSign(remains, now) < stagingGraceMs) continue
      batch.push(remains)
      if (batch.length < upkeepBatch) continue
      await sweep(batch)
      batch = []
    }
    await sweep(batch)
  })
  return swept
}

/** When somebody was there, in ms since 1970. A name from the future says nothing. */
const latestSign = ({ place, modifiedAtMs }: StagedRemains, now: number): number => {
  const named = madeAtMs(place) ?? 0
  return named > now ? modifiedAtMs : Math.max(modifiedAtMs, named)
}

/** Gives back the places of uploads that were cancelled, whose parts nobody will ask for. The row goes last. */
export const discardEndedAssemblies = async ({ database, store }: StagingDeps, run: Run): Promise<void> => {
  await run.each('discarding the parts of ended uploads', {
    find: async (limit) => {
      const ended = await endedAssemblies(database.reader, limit)
      // A power cut must not bring the uploads back without their bytes (I2).
      await database.settled()
      return ended
    },
    what: ({ claim_id }) => `discarding the parts of the ended upload ${claim_id}`,
    key: ({ claim_id }) => claim_id,
    work: async ({ claim_id, place }) => {
      await store.discardStaged(place)
      await database.transaction((tx) => deleteAssembly(tx, claim_id), { durability: 'relaxed' })
    },
  })
}
