import { lockLive, shareAll } from '../../../content/claims/claims.ts'
import type { Transaction } from '../../../database/database.ts'
import { lockRepositories } from '../../../database/locks.ts'
import type { PromotionDeps } from '../../../features/lifecycle/promotion/promotion.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { deprecationsOf, isTaken } from '../changing.queries.ts'
import { findVersion, tagsOf } from '../packages.queries.ts'
import { addVersion, type Change, packageNamed, setTags, settlePackage, tagAdded } from '../packages.ts'
import { versionUnknown } from '../refusals.ts'
import { giveStages, takeStages, type VersionStage } from '../stages/stages.ts'
import { removeVersions } from '../unpublishing.ts'
import type { VersionName } from '../versions.ts'
import { findReadme } from './copied.queries.ts'
import { findPromotion } from './records.queries.ts'
import { tellOf } from './telling.ts'

/**
 * Promotion brings a version of a package from one repository into another: its tarball, its manifest, its readme, its
 * attestations and what is said of its deprecation. The copy claims the same bytes, so that nothing is copied. Which is
 * the copy of which, name, number and bytes say. A move takes the stages along and the version away, as who unpublishes
 * does; it can be brought back while its grace period lasts. All of it is one transaction over both repositories.
 */
export interface Promotion {
  readonly target: string
  /** Tags that the copy gets, wherever they are. */
  readonly tags: readonly string[]
  readonly mode: 'copy' | 'move'
  readonly stages: readonly string[]
  readonly comment: string | null
}

export interface Promoter {
  readonly actor: string
  /** As clients show it. */
  readonly called: string
}

export interface Promoted {
  readonly repository: string
  readonly package: string
  readonly version: string
  readonly tags: string[]
  readonly sourceRepository: string
  readonly mode: 'copy' | 'move'
  /** Whether the copy came to be now. */
  readonly created: boolean
  readonly stages: string[]
}

/**
 * Promotes a version. Repeating it answers the copy that is there; a move finds the one that was made before, also when
 * the source is gone. Tags and stages that are asked for and missing are given in any case. 404 for what is not there,
 * unless it was moved just there; 409 `version_exists` where the number has other bytes there or was deleted,
 * `source_not_deletable` for a move of what another tag is at, `stage_limit`; 507 `storage_quota`.
 */
export const promote = async (
  deps: PromotionDeps,
  source: VersionName,
  wanted: Promotion,
  by: Promoter,
): Promise<Promoted> => {
  const promoted = await deps.database.transaction(async (tx) => {
    const { repository, version } = source
    // Claims before repositories, as everywhere: a move retires this one.
    const ahead = await findVersion(tx, source, version)
    if (ahead !== undefined) await lockLive(tx, ahead.id)
    const there = await lockRepositories(tx, [repository, wanted.target])
    if (!there.has(repository) || !there.has(wanted.target)) throw notFound('repository')
    const work = { tx, deps, source, wanted, by, change: { actor: by.actor, now: timestamp(deps.clock.now()) } }
    // A number is given once: what is there now is what was there before, or nothing.
    const found = ahead === undefined ? undefined : await findVersion(tx, source, version)
    return found === undefined ? promotedBefore(work) : promoteFound(work, found)
  })
  deps.reach('npm-promotion.committed')
  return promoted
}

interface Work {
  readonly tx: Transaction
  readonly deps: PromotionDeps
  readonly source: VersionName
  readonly wanted: Promotion
  readonly by: Promoter
  readonly change: Change
}

type Found = NonNullable<Awaited<ReturnType<typeof findVersion>>>

interface Copy {
  readonly id: string
  readonly packageId: string
  readonly created: boolean
}

const promoteFound = async (work: Work, found: Found): Promise<Promoted> => {
  const { tx, deps, source, wanted, change } = work
  const { mode, comment } = wanted
  if (mode === 'move') await refuseTagged(tx, found, wanted.tags)
  const copy = await copyOf(work, found)
  deps.reach('npm-promotion.copied')
  const told = { ...source, mode, comment, source: found, copy: { ...copy, repository: wanted.target } }
  await tellOf(tx, told, change)
  const carried = mode === 'move' ? await takeAway(work, found) : []
  return giveTo(work, copy, carried)
}

/** The answer to the move that took the version away may have been lost. */
const promotedBefore = async (work: Work): Promise<Promoted> => {
  const { tx, source, wanted } = work
  const copy = await findVersion(tx, { repository: wanted.target, name: source.name }, source.version)
  const known = copy === undefined ? undefined : await findPromotion(tx, copy.id, source.repository)
  if (copy === undefined || wanted.mode === 'copy' || known?.mode !== 'move')
    throw versionUnknown(source.name, source.version)
  return giveTo(work, { id: copy.id, packageId: copy.package_id, created: false }, [])
}

/** The copy that is there, or one that is made now. */
const copyOf = async (work: Work, found: Found): Promise<Copy> => {
  const { tx, wanted } = work
  const { name, version, sha256 } = found
  const to = { repository: wanted.target, name }
  const there = await findVersion(tx, to, version)
  if (there?.sha256 === sha256) return { id: there.id, packageId: there.package_id, created: false }
  if (there !== undefined)
    throw new Failure('version_exists', `${wanted.target} has ${name}@${version} already, with another tarball.`)
  if (await isTaken(tx, to, version))
    throw new Failure(
      'version_exists',
      `${wanted.target} had ${name}@${version}, and a number is never given again. Bring it back there, or publish another.`,
    )
  return makeCopy(work, found)
}

/** The caller holds the locks of both repositories: under that of the source its claim does not end. */
const makeCopy = async ({ tx, deps, wanted, by, change }: Work, found: Found): Promise<Copy> => {
  const { name, version, sha256, size, sha1, sha512, files, unpacked_size } = found
  const to = { repository: wanted.target, name }
  const id = newId(deps.clock.now())
  const shared = { id, digest: toSha256(sha256), bytes: size }
  await shareAll(tx, { repository: wanted.target, holder: 'npm-version' }, [shared], deps.capacityBytes)
  const packageId = await packageNamed(tx, to, by.called, change)
  const said = { manifest: found.manifest, attestations: found.attestations, deprecated: found.deprecated }
  const copy = { id, version, sha256, size, sha1, sha512, files, unpacked_size, ...said }
  await addVersion(tx, to, packageId, { ...copy, readme: await findReadme(tx, found.id) }, change, deps.capacityBytes)
  return { id, packageId, created: true }
}

/** Refuses to move what a tag is at that does not go along. `latest` goes to what is left, as ever. */
const refuseTagged = async (tx: Transaction, { id, package_id }: Found, leaving: readonly string[]): Promise<void> => {
  const kept = (await tagsOf(tx, package_id)).filter(
    ({ tag, version_id }) => version_id === id && tag !== 'latest' && !leaving.includes(tag),
  )
  if (kept.length === 0) return
  const names = kept.map(({ tag }) => tag).join(', ')
  throw new Failure(
    'source_not_deletable',
    `The source is kept by the tags ${names}. Name them as tags to take along, move them, or copy it.`,
  )
}

/** Takes the version away where it was, with its stages, which it answers. */
const takeAway = async ({ tx, source, change }: Work, found: Found): Promise<VersionStage[]> => {
  const carried = await takeStages(tx, { ...source, id: found.id }, null, change)
  const live = await deprecationsOf(tx, found.package_id)
  const going = live.filter(({ id }) => id === found.id)
  const staying = live.filter(({ id }) => id !== found.id)
  await removeVersions(tx, { ...source, owner: change.actor }, found.package_id, { going, staying }, change)
  await settlePackage(tx, found.package_id, change)
  return carried
}

/** The copy gets its tags, the stages that come along, and those asked for that it lacks then. */
const giveTo = async (
  { tx, deps, source, wanted, change }: Work,
  { id, packageId, created }: Copy,
  carried: readonly VersionStage[],
): Promise<Promoted> => {
  const { name, version } = source
  const { target, tags, mode, comment } = wanted
  const to = { repository: target, name, version, id }
  const isTagged = created
    ? await tagAdded(tx, to, packageId, tags, to, change)
    : await setTags(tx, to, packageId, tags, to, change)
  if (created || isTagged) await settlePackage(tx, packageId, change)
  const { actor, now } = change
  const asked = wanted.stages.map((stage) => ({ stage, promotedAt: now, actor, comment }))
  const lacking = asked.filter(({ stage }) => carried.every((each) => each.stage !== stage))
  const stages = await giveStages(tx, to, [...carried, ...lacking], change)
  deps.reach('npm-promotion.told')
  return {
    repository: target,
    ...{ package: name, version, tags: [...tags], sourceRepository: source.repository, mode, created },
    stages: stages.map(({ stage }) => stage),
  }
}
