import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../kernel/failure.ts'
import { reclaimWaitMs, reclaimWaitsMax } from '../kernel/limits.ts'
import { BlobBeingReclaimed } from './claims.ts'

/** Runs a transaction that announces a digest; waits while that digest is just being removed. 503 when it takes long. */
export const whenNotReclaimed = async <T>(announcing: () => Promise<T>): Promise<T> => {
  for (let waits = 0; ; waits++) {
    try {
      return await announcing()
    } catch (error) {
      if (!(error instanceof BlobBeingReclaimed)) throw error
      if (waits === reclaimWaitsMax)
        throw new Failure('busy', 'The same content is being cleaned up right now; try again.', { cause: error })
      await pause(reclaimWaitMs)
    }
  }
}
