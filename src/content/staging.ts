import type { Clock } from '../kernel/clock.ts'
import { stagingGraceMs } from '../kernel/limits.ts'
import type { BlobStore } from '../ports/blob-store.ts'

export interface StagingParts {
  readonly store: BlobStore
  readonly clock: Clock
}

/**
 * Removes staging places that nobody writes to: those of dead processes. `live` names the places of transfers that are
 * under way; young ones are left alone too, because their row may not have been visible yet. Returns how many went.
 */
export const sweepStaging = async ({ store, clock }: StagingParts, live: ReadonlySet<string>): Promise<number> => {
  let swept = 0
  for await (const remains of store.listStaged()) {
    if (live.has(remains.place) || clock.now() - remains.modifiedAtMs < stagingGraceMs) continue
    await store.discardStaged(remains.place)
    swept += 1
  }
  return swept
}
