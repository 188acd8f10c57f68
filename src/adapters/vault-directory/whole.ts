import { open } from 'node:fs/promises'
import { VaultFailure } from '../../ports/vault.ts'
import { nullIfMissing } from './walk.ts'

/** A file as a whole; null where there is none. One that is longer is damaged. */
export const wholeOf = async (path: string, bytesMax: number): Promise<Buffer | null> => {
  const handle = await open(path, 'r').catch(nullIfMissing)
  if (handle === null) return null
  try {
    const { size } = await handle.stat()
    if (size > bytesMax) throw new VaultFailure('damaged', path, 'it is too long')
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}
