import { runningHashesMax } from '../../kernel/limits/transfers.ts'
import type { Hashing, ThreadHash } from './hashing.ts'

/**
 * The SHA-256 of an upload's parts so far, so that completing an upload whose parts came in order reads nothing.
 *
 * Where parts can be read back, the hash lives in memory: whoever lost it reads again. Where they cannot, its state is
 * kept in the database with each part. That costs a slower hash, and happens only in front of a store across a network.
 */
export interface RunningHashes {
  /** Parts from the beginning that the hash of an upload has seen. */
  hashedParts(claimId: string, saved: SavedHash): number
  /** A hash of those parts, to go on with. Whoever asks drops it. */
  resume(claimId: string, saved: SavedHash): { readonly hash: ThreadHash; readonly parts: number }
  /** What has to be stored with the part that was just hashed, if anything. */
  state(hash: ThreadHash): Promise<string | null>
  /** Remembers where a hash stands, behind so many parts that are stored. */
  keep(claimId: string, hash: ThreadHash, parts: number): void
  forget(claimId: string): void
}

/** Where the hash of an upload stands according to its row. */
interface SavedHash {
  readonly parts: number
  readonly state: string | null
}

/** For one process. `inMemory` says whether parts can be read back, see above; where not, the hashing saves states. */
export const createRunningHashes = (hashing: Hashing, inMemory: boolean): RunningHashes =>
  inMemory ? inThisProcess(hashing) : besideTheParts(hashing)

const inThisProcess = (hashing: Hashing): RunningHashes => {
  const known = new Map<string, { readonly hash: ThreadHash; readonly parts: number }>()
  const living = (claimId: string) => {
    const found = known.get(claimId)
    return found?.hash.isLost === false ? found : undefined
  }
  const forget = (claimId: string): void => {
    known.get(claimId)?.hash.drop()
    known.delete(claimId)
  }
  return {
    hashedParts: (claimId) => living(claimId)?.parts ?? 0,
    resume(claimId) {
      const found = living(claimId)
      return found === undefined ? { hash: hashing.begin(), parts: 0 } : { ...found, hash: found.hash.fork() }
    },
    state: async () => null,
    keep(claimId, hash, parts) {
      forget(claimId)
      known.set(claimId, { hash: hash.fork(), parts })
      const [oldest] = known.keys()
      if (known.size > runningHashesMax && oldest !== undefined) forget(oldest)
    },
    forget,
  }
}

const besideTheParts = (hashing: Hashing): RunningHashes => ({
  hashedParts: (_claimId, saved) => saved.parts,
  resume: (_claimId, { parts, state }) => ({ hash: hashing.begin(state), parts }),
  state: (hash) => hash.save(),
  keep() {},
  forget() {},
})
