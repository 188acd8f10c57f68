import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { VaultFailure } from '../../ports/vault.ts'
import { isUnfinished, makeFolder } from '../files/durable-file.ts'
import { fileTrouble } from '../files/errors.ts'
import { nullIfMissing, walk } from './walk.ts'

/**
 * A lock between processes that ends with its process: of one alone, or of any number while nobody has it alone. Null
 * when somebody else has it. The file is made if it is missing; throws with a sentence for a file that is no lock.
 */
export type LockFile = (path: string, mode: 'exclusive' | 'shared') => Disposable | null

const lockName = 'export.lock'

/** Whether a folder has nothing of anybody, or is none. */
export const isEmptyFolder = async (root: string): Promise<boolean> =>
  ((await readdir(root).catch(nullIfMissing)) ?? []).every((name) => isUnfinished(name) || name === lockName)

/**
 * Keeps others out of the folder, as `Vault.claim` says. Whoever writes makes it, and removes what was left
 * half-written.
 */
export const claimFolder = async (
  root: string,
  to: 'write' | 'read',
  lockFile: LockFile,
  name: string = lockName,
): Promise<AsyncDisposable | null> => {
  if (to === 'write') await makeFolder(root)
  else if (await isEmptyFolder(root)) return nothingHeld
  const held = lock(join(root, name), to, lockFile)
  if (held === null) return null
  try {
    if (to === 'write') await removeUnfinished(root)
  } catch (error) {
    held[Symbol.dispose]()
    throw error
  }
  return { [Symbol.asyncDispose]: async () => held[Symbol.dispose]() }
}

const nothingHeld: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} }

const lock = (path: string, to: 'write' | 'read', lockFile: LockFile): Disposable | null => {
  try {
    return lockFile(path, to === 'write' ? 'exclusive' : 'shared')
  } catch (error) {
    // Where nothing can be written no writer can begin.
    if (to === 'read' && fileTrouble(error) === 'denied') return { [Symbol.dispose]: () => {} }
    if (fileTrouble(error) !== null) throw error
    throw new VaultFailure('damaged', path, error instanceof Error ? error.message : String(error), { cause: error })
  }
}

const removeUnfinished = async (root: string): Promise<void> => {
  for await (const { name, path } of walk(root, null)) if (name === null && isUnfinished(path)) await unlink(path)
}
