import type { Transaction } from '../../database/database.ts'
import type { PackagesTable } from '../../database/tables/packages.ts'
import { Failure } from '../../kernel/failure.ts'
import {
  findPackageOf,
  findSameVersion,
  forgetFreed,
  insertPackage,
  lockVersions,
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
  await lockVersions(tx, wanted.repository)
  const holder = await findSameVersion(tx, wanted)
  if (holder === undefined) return
  const { group_name, name, version, artifact_id } = holder
  const full = group_name === '' ? name : `${group_name}/${name}`
  throw new Failure(
    'version_exists',
    `The artifact ${artifact_id} is version ${version} of ${full}. Versions never change: publish another one, or delete that artifact first.`,
  )
}

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

/** Who holds in a repository the version that a file is in its own. Null when the file is no package, or nobody does. */
export const holderElsewhere = async (
  tx: Transaction,
  artifactId: string,
  repository: string,
): Promise<string | null> => {
  const row = await findPackageOf(tx, artifactId)
  if (row === undefined) return null
  return (await findSameVersion(tx, { ...row, repository }))?.artifact_id ?? null
}

/** Makes a copy, published now in another repository, the version that the file is in its own. False when the file is no package. */
export const copyVersion = async (
  tx: Transaction,
  artifactId: string,
  copy: { readonly artifactId: string; readonly repository: string; readonly now: string },
): Promise<boolean> => {
  const row = await findPackageOf(tx, artifactId)
  if (row === undefined) return false
  const { repository, now } = copy
  const same = { ...row, artifact_id: copy.artifactId, repository, registered_at: now, published_at: now }
  await takeVersion(tx, same)
  await insertPackage(tx, same)
  return true
}
