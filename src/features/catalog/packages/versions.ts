import type { Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'
import { Failure } from '../../../kernel/failure.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import {
  findSameVersion,
  findVersionOf,
  forgetFreed,
  insertPackage,
  moveBack,
  moveToFreed,
} from './packages.queries.ts'
import { deriveStages, forgetStages } from './stages.queries.ts'

/**
 * Who holds a package version. One published file of a repository does, from its registration until it is deleted; then
 * the version is free, and the deleted file gets it back only if nobody took it meanwhile. Each function takes the lock
 * of the repository, after that of the file's claim.
 */

/** Refuses with 409 `version_exists` what another file holds, and keeps others from taking it until the commit. */
export const takeVersion = async (tx: Transaction, wanted: PackagesTable): Promise<void> => {
  await lockRepository(tx, wanted.repository)
  const holder = await findSameVersion(tx, wanted)
  if (holder !== undefined) throw versionExists(holder)
}

const versionExists = ({ group_name, name, version, artifact_id }: Holder): Failure => {
  const full = group_name === '' ? name : `${group_name}/${name}`
  return new Failure(
    'version_exists',
    `The artifact ${artifact_id} is version ${version} of ${full}. Versions never change: publish another one, or delete that artifact first.`,
  )
}

type Holder = Pick<PackagesTable, 'artifact_id' | 'group_name' | 'name' | 'version'>

/** To be called before a published file goes away: its version is free. Harmless for what is no package. */
export const freeVersion = async (tx: Transaction, artifactId: string): Promise<void> => {
  await forgetStages(tx, artifactId)
  await moveToFreed(tx, artifactId)
}

/** To be called when a deleted file is back: it is the version that it was. 409 `version_exists` if another is now. */
export const takeVersionBack = async (tx: Transaction, artifactId: string): Promise<void> => {
  const freed = await moveBack(tx, artifactId, (row) => takeVersion(tx, row))
  if (freed) await deriveStages(tx, artifactId)
}

/** To be called when a deleted file can no longer be brought back. */
export const forgetVersion = (tx: Transaction, artifactId: string): Promise<void> => forgetFreed(tx, artifactId)

/** To be called when a file gets or loses stages: what is resolved by them follows. Harmless for what is no package. */
export const followStages = (tx: Transaction, artifactId: string): Promise<void> => deriveStages(tx, artifactId)

/**
 * The version that a file is, or was before it was deleted, and who holds it in another repository, with the same
 * bytes. Null when the file is no package; 409 `version_exists` when the holder has other bytes. The caller holds the
 * lock of that repository.
 */
export const holderOfVersion = async (
  tx: Transaction,
  artifactId: string,
  elsewhere: { readonly repository: string; readonly sha256: string },
): Promise<{ readonly version: PackagesTable; readonly holder: string | null } | null> => {
  const version = await findVersionOf(tx, artifactId)
  if (version === undefined) return null
  const holder = await findSameVersion(tx, { ...version, repository: elsewhere.repository })
  if (holder === undefined) return { version, holder: null }
  const { sha256 } = await publishedArtifact(tx, elsewhere.repository, holder.artifact_id)
  if (sha256 !== elsewhere.sha256) throw versionExists(holder)
  return { version, holder: holder.artifact_id }
}

/** Makes a published file of the same bytes the version that another one is elsewhere. 409 `version_exists`. */
export const becomeVersion = async (
  tx: Transaction,
  version: PackagesTable,
  { id, repository, published_at }: ArtifactsTable,
  now: string,
): Promise<void> => {
  const same = { ...version, artifact_id: id, repository, registered_at: now, published_at }
  await takeVersion(tx, same)
  await insertPackage(tx, same)
  await deriveStages(tx, id)
}
