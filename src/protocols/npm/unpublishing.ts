import { prerelease, rcompare } from 'semver'
import { lockLive, lockRetired, retire, revive } from '../../content/claims/claims.ts'
import type { Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import { appendJournal, appendJournalOfMany } from '../../journal/repository/journal.ts'
import { packageLine } from '../../journal/repository/package-lines.ts'
import { timestamp } from '../../kernel/clock.ts'
import { Failure } from '../../kernel/failure.ts'
import { npmVersionsPerRemoval } from '../../kernel/limits/npm.ts'
import {
  deprecationsOf,
  findPackage,
  markVersionRestored,
  markVersionsDeleted,
  packageById,
  removePiece,
  updatePackage,
  versionsOfPiece,
} from './changing.queries.ts'
import { type Changed, type Changer, type ChangingDeps, refuseStale } from './changing.ts'
import { deletedVersion, findFile, tagsOf, versionIds } from './packages.queries.ts'
import { type Change, removeTags, rewritePiece, setTags, settlePackage, show } from './packages.ts'
import { packageUnknown, versionUnknown } from './refusals.ts'
import { stagedVersions } from './staged.queries.ts'

/** A version that is there. */
interface Live {
  readonly id: string
  readonly version: string
  readonly piece: number | null
}

/**
 * Takes versions away that `isUnwanted` names. Their numbers are taken for good; until the grace period of the
 * repository is over, they can be brought back. Tags that were at them go, and `latest` to the newest that is left.
 * Of very many some go in transactions of their own; whoever dies in between leaves fewer, and the next try goes on.
 * 404 without the package, 409 where its state is another than `expected`, and where one of them has a stage.
 */
export const unpublish = async (
  deps: ChangingDeps,
  changer: Changer,
  isUnwanted: (version: string) => boolean,
  expected?: string,
): Promise<Changed> => {
  const q = deps.database.reader
  const found = await findPackage(q, changer)
  if (found === undefined || found.versions === 0) throw packageUnknown(changer.name)
  // Which ones is decided once: whoever asked has not seen what is published while they go.
  const unwanted = (await versionIds(q, found.id)).flatMap(({ id, version }) => (isUnwanted(version) ? [id] : []))
  for (let at = 0; ; at += npmVersionsPerRemoval) {
    const ids = unwanted.slice(at, at + npmVersionsPerRemoval)
    const removal = { ids, all: new Set(unwanted.slice(at)) }
    const changed = await removeSome(deps, changer, removal, at === 0 ? expected : undefined)
    if (at + npmVersionsPerRemoval >= unwanted.length) {
      deps.reach('npm.committed')
      return changed
    }
    deps.reach('npm.unpublished')
  }
}

/** The same with one version. 404 without it. */
export const unpublishVersion = async (deps: ChangingDeps, changer: Changer, version: string): Promise<Changed> => {
  if ((await findFile(deps.database.reader, changer, version)) === undefined)
    throw versionUnknown(changer.name, version)
  return await unpublish(deps, changer, (each) => each === version)
}

/** Versions that go in one transaction, and all that are to go. */
interface Removal {
  readonly ids: readonly string[]
  readonly all: ReadonlySet<string>
}

const removeSome = (
  { database, clock, reach }: ChangingDeps,
  changer: Changer,
  { ids, all }: Removal,
  expected: string | undefined,
): Promise<Changed> =>
  database.transaction(async (tx) => {
    // Claims before the repository, as everywhere.
    for (const id of ids.toSorted()) await lockLive(tx, id)
    await lockRepository(tx, changer.repository)
    const found = await findPackage(tx, changer)
    if (found === undefined || found.versions === 0) throw packageUnknown(changer.name)
    refuseStale(found, expected)
    // Before the first of them goes, also of those that go later.
    await refuseStaged(tx, changer, all)
    const wanted = new Set(ids)
    const change = { actor: changer.owner, now: timestamp(clock.now()) }
    const live = await deprecationsOf(tx, found.id)
    await removeVersions(
      tx,
      changer,
      found.id,
      { going: live.filter(({ id }) => wanted.has(id)), staying: live.filter(({ id }) => !wanted.has(id)) },
      change,
    )
    const revision = await settlePackage(tx, found.id, change)
    reach('npm.told')
    return { packageId: found.id, revision }
  })

const refuseStaged = async (tx: Transaction, changer: Changer, all: ReadonlySet<string>): Promise<void> => {
  const staged = (await stagedVersions(tx, changer)).find(({ version_id }) => all.has(version_id))
  if (staged !== undefined)
    throw new Failure(
      'version_kept',
      `${changer.name}@${staged.version} is on the stage ${staged.stage}. Take it from its stages first.`,
    )
}

/** What taking versions away does, under the locks of their claims and of the repository. They have no stages. */
export const removeVersions = async (
  tx: Transaction,
  changer: Changer,
  packageId: string,
  { going, staying }: { readonly going: readonly Live[]; readonly staying: readonly Live[] },
  change: Change,
): Promise<void> => {
  if (going.length === 0) return
  const { actor, now } = change
  const ids = new Set(going.map(({ id }) => id))
  const tags = (await tagsOf(tx, packageId)).filter(({ version_id }) => ids.has(version_id))
  const newest = newestOf(staying)
  const isLatestGone = tags.some(({ tag }) => tag === 'latest')
  await removeTags(
    tx,
    changer,
    packageId,
    tags.filter(({ tag }) => tag !== 'latest' || newest === undefined),
    change,
  )
  if (isLatestGone && newest !== undefined) await setTags(tx, changer, packageId, ['latest'], newest, change)
  await markVersionsDeleted(tx, [...ids], now)
  for (const piece of new Set(going.map((each) => each.piece)))
    if (piece !== null) await rewriteOrRemove(tx, packageId, piece)
  const { versions } = await packageById(tx, packageId)
  await updatePackage(tx, { id: packageId, versions: versions - going.length })
  await appendJournalOfMany(
    tx,
    { repository: changer.repository, action: 'package.unpublish', actor, occurredAt: now },
    going.map(({ id, version }) => ({ artifactId: id, detail: packageLine(changer.name, version) })),
  )
  for (const id of ids) await retire(tx, id, now)
}

const rewriteOrRemove = async (tx: Transaction, packageId: string, piece: number): Promise<void> => {
  if ((await versionsOfPiece(tx, packageId, piece)).length === 0) await removePiece(tx, packageId, piece)
  else await rewritePiece(tx, packageId, piece)
}

/** The highest of some versions; one that is no prerelease before all that are. */
const newestOf = (versions: readonly Live[]): Live | undefined => {
  const stable = versions.filter(({ version }) => prerelease(version) === null)
  return (stable.length > 0 ? stable : versions).toSorted((one, other) => rcompare(one.version, other.version))[0]
}

/**
 * Brings a deleted version back, while its grace period lasts. 404 for one that is not deleted, or whose time is over.
 */
export const restoreVersion = async (
  { database, clock, reach }: ChangingDeps,
  changer: Changer,
  version: string,
): Promise<Changed> => {
  const changed = await database.transaction(async (tx) => {
    const deleted = await deletedVersion(tx, changer, version)
    if (deleted === undefined || (await lockRetired(tx, deleted.id)) === null)
      throw versionUnknown(changer.name, version)
    await lockRepository(tx, changer.repository)
    const row = await deletedVersion(tx, changer, version)
    if (row === undefined || !(await revive(tx, row.id))) throw versionUnknown(changer.name, version)
    const change = { actor: changer.owner, now: timestamp(clock.now()) }
    await markVersionRestored(tx, row.id, await show(tx, row.package_id, row))
    const { versions } = await packageById(tx, row.package_id)
    await updatePackage(tx, { id: row.package_id, versions: versions + 1 })
    const line = { artifactId: row.id, detail: packageLine(changer.name, row.version) }
    await appendJournal(tx, {
      ...{ repository: changer.repository, action: 'package.restore', ...line },
      ...{ actor: change.actor, occurredAt: change.now },
    })
    const tags = await tagsOf(tx, row.package_id)
    if (!tags.some(({ tag }) => tag === 'latest')) await setTags(tx, changer, row.package_id, ['latest'], row, change)
    const revision = await settlePackage(tx, row.package_id, change)
    reach('npm.told')
    return { packageId: row.package_id, revision }
  })
  reach('npm.committed')
  return changed
}
