import { VaultFailure, type VaultTrouble } from '../../ports/vault.ts'
import { errorCode, type FileTrouble, fileTrouble } from '../files/errors.ts'

const troubles: Readonly<Record<FileTrouble, VaultTrouble>> = {
  full: 'full',
  absent: 'missing',
  denied: 'denied',
  spoilt: 'damaged',
  away: 'unreachable',
}

/**
 * What the port throws for an error of the file system. What the system did not say passes unchanged, the port's own
 * among it. A folder where a file should be is damage; a file where the vault should be is no vault.
 */
const vaultFailure = (where: string, cause: unknown): unknown => {
  const code = errorCode(cause)
  if (code === undefined || !(cause instanceof Error)) return cause
  if (code === 'ENOTDIR' || code === 'EEXIST') return new VaultFailure('unreachable', where, 'is no folder', { cause })
  const known = fileTrouble(cause)
  const trouble = code === 'EISDIR' ? 'damaged' : known === null ? 'unreachable' : troubles[known]
  return new VaultFailure(trouble, where, cause.message, { cause })
}

/** Runs work on a vault and on those of its files that `where` names, and throws the port's errors. */
export const guarded = async <T>(where: string, run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw vaultFailure(where, error)
  }
}

/** The same of what is read piece by piece. */
export async function* guardedPieces<T>(where: string, pieces: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* pieces
  } catch (error) {
    throw vaultFailure(where, error)
  }
}
