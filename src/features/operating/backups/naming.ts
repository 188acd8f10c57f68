import { namesNewEveryMs } from '../../../kernel/limits/backups.ts'
import type { VaultName } from '../../../ports/vault-name.ts'

/** By what new data is called. */
export interface Naming {
  /** Whether a file was found to be damaged, though it has its length. */
  readonly isDamaged: (name: VaultName) => boolean
  /** Which try is the first one now: {@link firstTryAt}. */
  readonly firstTry: () => number
}

/** Tries within the time in which names are the same: each beyond the first is of data that was found damaged. */
const triesEach = 1_000

/**
 * Names are new after a while, so that no name is given again once what bore it may be swept. A removal that lands late
 * hits nothing, and nobody relies on what another one is about to remove.
 */
export const firstTryAt = (nowMs: number): number => Math.floor(nowMs / namesNewEveryMs) * triesEach

/** What data may be called, one after another. `of`: the name of a try. */
export function* namesToTry({ isDamaged, firstTry }: Naming, of: (attempt: number) => VaultName): Generator<VaultName> {
  for (let attempt = firstTry(); ; attempt++) {
    const name = of(attempt)
    if (!isDamaged(name)) yield name
  }
}
