import { readFile, stat } from 'node:fs/promises'
import { errorCode } from '../adapters/files/errors.ts'

/** Why a file is not read: one clause, with `it` for the file. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused'
}

/** What others than its owner must not be able to do with a file. */
export type Guarded = 'written' | 'read or written'

const bits: Readonly<Record<Guarded, number>> = { written: 0o022, 'read or written': 0o077 }
const faults: Readonly<Record<Guarded, string>> = {
  written: 'others than its owner may write it; take that from them (chmod go-w)',
  'read or written': 'others than its owner may read or write it; take that from them (chmod go=)',
}

/** The text of a file that somebody else must not have their hands in. Throws a {@link FileRefused}. */
export const readGuarded = async (path: string, guarded: Guarded, bytesMax: number): Promise<string> => {
  try {
    const found = await stat(path)
    const { size, mode } = found
    if (!found.isFile()) throw new FileRefused('it is no file')
    if ((mode & bits[guarded]) !== 0) throw new FileRefused(faults[guarded])
    if (size > bytesMax) throw new FileRefused(`it is larger than ${bytesMax} bytes`)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof FileRefused) throw error
    throw new FileRefused(
      errorCode(error) === 'ENOENT' ? 'it does not exist' : `it cannot be read (${errorCode(error) ?? 'unknown'})`,
    )
  }
}

/** Another text for each state of the file that may have another content; null where there is none. */
export const fileState = async (path: string): Promise<string | null> => {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return null
  }
}
