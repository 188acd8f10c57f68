import { lockLive, share } from '../../content/claims/claims.ts'
import type { TransferDeps } from '../../features/transfers/uploads/uploads.ts'
import type { RepositoryAction } from '../../kernel/actions.ts'
import { timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { newId } from '../../kernel/ids.ts'
import { mountSourcesMax } from '../../kernel/limits/oci.ts'
import { findBlob, repositoriesWith } from './blobs.queries.ts'
import { countOnThere, type ImageScope, keepBlob } from './blobs.ts'
import type { Digest } from './vocabulary.ts'

/** Where a blob may be mounted from: one repository that the caller may read, or any that they may read. */
export interface MountSource {
  /** Null where the client does not say. */
  readonly repository: string | null
  readonly held: (repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

/**
 * Makes a blob of another repository one of this as well; no byte is copied. True where it is there then, also because
 * it was before. 507 `storage_quota`: each repository counts what it holds.
 */
export const mountBlob = async (
  deps: TransferDeps,
  scope: ImageScope,
  digest: Digest,
  source: MountSource,
): Promise<boolean> => {
  if ((await countOnThere(deps, scope, digest, digest, async () => {})) !== null) return true
  const sources = source.repository === null ? await readable(deps, digest, source.held) : [source.repository]
  for (const from of sources) if (await mountFrom(deps, from, scope, digest)) return true
  return false
}

const readable = async (
  { database }: TransferDeps,
  digest: Digest,
  held: MountSource['held'],
): Promise<readonly string[]> => {
  for (const repository of await repositoriesWith(database.reader, digest, mountSourcesMax))
    if ((await held(repository)).has('content.read')) return [repository]
  return []
}

const mountFrom = async (
  { database, clock, capacityBytes }: TransferDeps,
  from: string,
  { repository: to, name }: ImageScope,
  digest: Digest,
): Promise<boolean> => {
  const found = await findBlob(database.reader, from, digest)
  if (found === undefined) return false
  return database.transaction(async (tx) => {
    if (!(await lockLive(tx, found.id))) return false
    const now = timestamp(clock.now())
    const id = newId(clock.now())
    const { sha256, size } = found
    const wanted = { id, repository: to, holder: 'oci-blob', digest: toSha256(sha256), bytes: size } as const
    await share(tx, wanted, capacityBytes)
    await keepBlob(tx, { id, repository: to, name, sha256, size, called: digest }, now)
    return true
  })
}
