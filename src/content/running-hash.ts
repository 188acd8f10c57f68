import { createHash } from 'node:crypto'
import { createSHA256 } from 'hash-wasm'
import { type Sha256, toSha256 } from '../kernel/digest.ts'
import { runningHashesMax } from '../kernel/limits.ts'

/**
 * The SHA-256 of an upload's parts so far, so that completing an upload whose parts came in order reads nothing.
 *
 * Where parts can be read back, the hash lives in memory: whoever lost it reads again. Where they cannot, its state
 * is kept in the database with each part. That costs a slower hash, since OpenSSL's cannot be saved (measured: 380
 * MiB/s against 1,800), and happens only in front of a store across a network.
 */
export interface RunningHash {
  /** Parts from the beginning that it has seen. */
  readonly parts: number
  update(piece: Uint8Array): void
  /** Another one that stands where this one does, for a part that may yet turn out to be wrong. */
  fork(): Promise<RunningHash>
  /** The same one, after one more part. */
  advanced(): RunningHash
  digest(): Sha256
  /** Text to go on from, or null where it lives in memory. */
  save(): string | null
}

/** Where the hash of an upload stands according to its row. */
interface SavedHash {
  readonly parts: number
  readonly state: string | null
}

export interface RunningHashes {
  /** The hash of an upload, as far as it is known. */
  resume(claimId: string, saved: SavedHash): Promise<RunningHash>
  /** Remembers how far it got, once the part is stored. */
  keep(claimId: string, hash: RunningHash): void
  forget(claimId: string): void
}

/** For one process. `inMemory` says whether parts can be read back, see above. */
export const createRunningHashes = (inMemory: boolean): RunningHashes => {
  const known = new Map<string, RunningHash>()
  return {
    resume: async (claimId, saved) =>
      inMemory
        ? (known.get(claimId) ?? new NativeHash(createHash('sha256'), 0))
        : SavedStateHash.load(saved.parts, saved.state),
    keep(claimId, hash) {
      if (!inMemory) return
      known.delete(claimId)
      known.set(claimId, hash)
      const [oldest] = known.keys()
      if (known.size > runningHashesMax && oldest !== undefined) known.delete(oldest)
    },
    forget(claimId) {
      known.delete(claimId)
    },
  }
}

class NativeHash implements RunningHash {
  readonly #hash: ReturnType<typeof createHash>
  readonly parts: number

  constructor(hash: ReturnType<typeof createHash>, parts: number) {
    this.#hash = hash
    this.parts = parts
  }

  update(piece: Uint8Array): void {
    this.#hash.update(piece)
  }

  async fork(): Promise<RunningHash> {
    return new NativeHash(this.#hash.copy(), this.parts)
  }

  advanced(): RunningHash {
    return new NativeHash(this.#hash, this.parts + 1)
  }

  digest(): Sha256 {
    return toSha256(this.#hash.digest('hex'))
  }

  save(): null {
    return null
  }
}

type Saveable = Awaited<ReturnType<typeof createSHA256>>

class SavedStateHash implements RunningHash {
  readonly #hash: Saveable
  readonly parts: number

  private constructor(hash: Saveable, parts: number) {
    this.#hash = hash
    this.parts = parts
  }

  static async load(parts: number, state: string | null): Promise<RunningHash> {
    const hash = (await createSHA256()).init()
    return new SavedStateHash(state === null ? hash : hash.load(Buffer.from(state, 'base64')), parts)
  }

  update(piece: Uint8Array): void {
    this.#hash.update(piece)
  }

  fork(): Promise<RunningHash> {
    return SavedStateHash.load(this.parts, this.save())
  }

  advanced(): RunningHash {
    return new SavedStateHash(this.#hash, this.parts + 1)
  }

  digest(): Sha256 {
    return toSha256(this.#hash.digest('hex'))
  }

  save(): string {
    return Buffer.from(this.#hash.save()).toString('base64')
  }
}
