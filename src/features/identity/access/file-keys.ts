import type { Access } from '../../../kernel/actions.ts'
import type { FileKeyCaller } from '../../../kernel/caller.ts'
import type { Sha256 } from '../../../kernel/digest.ts'
import { type FindNamedFileKey, nameOfFileKey } from '../passes/names.ts'
import type { NamedCredential } from '../sessions/secrets.ts'

/** One entry of the keys file. */
export interface FileKey {
  readonly id: string
  /** SHA-256 of the secret. */
  readonly sha256: Sha256
  readonly administrator: boolean
  readonly serviceAdministrator: boolean
  readonly repositories: ReadonlyMap<string, ReadonlySet<Access>>
}

export type FindFileKey = (digest: Sha256) => FileKeyCaller | null

/** Whoever calls with this key. */
export const callerOfFileKey = ({
  id,
  administrator,
  serviceAdministrator,
  repositories,
}: Omit<FileKey, 'sha256'>): FileKeyCaller => ({
  kind: 'file-key',
  credential: 'file-key',
  id,
  administrator,
  serviceAdministrator,
  repositories,
})

/**
 * The keys of the file, read at start, found by the digest of their secret. Looking up a digest is safe where comparing
 * a secret would not be: nobody can choose a guess by the first digits of its SHA-256.
 */
export const fileKeyFinder = (keys: readonly FileKey[]): FindFileKey => {
  const byDigest = new Map<string, FileKeyCaller>()
  for (const key of keys) byDigest.set(key.sha256, callerOfFileKey(key))
  return (digest) => byDigest.get(digest) ?? null
}

/** The same keys, found by their names. */
export const namedFileKeyFinder = (keys: readonly FileKey[]): FindNamedFileKey => {
  const byName = new Map<string, NamedCredential>()
  for (const key of keys) byName.set(nameOfFileKey(key.id), { sha256: key.sha256, caller: () => callerOfFileKey(key) })
  return (name) => byName.get(name) ?? null
}
