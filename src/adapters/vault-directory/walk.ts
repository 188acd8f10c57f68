import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isVaultName, type VaultName } from '../../ports/vault-name.ts'
import { errorCode } from '../files/errors.ts'

/** A file that has a name in the vault, or something that has none. */
interface Found {
  readonly path: string
  readonly name: VaultName | null
}

/**
 * Everything below a name, or in the whole vault. Folders that are missing are empty. Follows no
 * link that it finds; the folder that it begins in may be reached by one, as blobs that lie on another disk are.
 */
export async function* walk(root: string, within: VaultName | null): AsyncGenerator<Found> {
  const folder = within === null ? root : join(root, within)
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(noneIfMissing)) {
    const path = join(folder, entry.name)
    const name = within === null ? entry.name : `${within}/${entry.name}`
    if (!isVaultName(name)) yield { path, name: null }
    // Where a link leads is not ours to look through, nor to tidy.
    else if (entry.isDirectory()) yield* walk(root, name)
    else yield { path, name }
  }
}

export const nullIfMissing = (error: unknown): null => {
  if (errorCode(error) === 'ENOENT') return null
  throw error
}

const noneIfMissing = (error: unknown): Dirent[] => nullIfMissing(error) ?? []
