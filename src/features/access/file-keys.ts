import { timingSafeEqual } from 'node:crypto'
import type { Access } from '../../kernel/actions.ts'
import type { FileKeyCaller } from '../../kernel/caller.ts'
import type { Sha256 } from '../../kernel/digest.ts'

/** One entry of the keys file. */
export interface FileKey {
  readonly id: string
  /** SHA-256 of the secret. */
  readonly sha256: Sha256
  readonly administrator: boolean
  readonly serviceAdministrator: boolean
  readonly repositories: ReadonlyMap<string, Access>
}

export type FindFileKey = (digest: Sha256) => FileKeyCaller | null

/** The keys of the file, read at start, found by the digest of their secret. */
export const fileKeyFinder = (keys: readonly FileKey[]): FindFileKey => {
  const byDigest = new Map<string, FileKeyCaller>()
  for (const { id, sha256, administrator, serviceAdministrator, repositories } of keys)
    byDigest.set(sha256, {
      kind: 'file-key',
      credential: 'file-key',
      id,
      administrator,
      serviceAdministrator,
      repositories,
    })
  const entries = [...byDigest].map(([sha256, caller]) => ({ bytes: Buffer.from(sha256, 'hex'), caller }))
  return (digest) => {
    // Every entry is compared, in constant time each: how long it takes says nothing about how close a guess came.
    if (entries.length > scanMax) return byDigest.get(digest) ?? null
    const wanted = Buffer.from(digest, 'hex')
    let found: FileKeyCaller | null = null
    for (const { bytes, caller } of entries) if (timingSafeEqual(bytes, wanted)) found = caller
    return found
  }
}

/** Beyond this many the digest is looked up instead: what is compared is a hash of the guess, so a prefix match tells nothing. */
const scanMax = 64
