import { lockLive, share } from '../../content/claims.ts'
import type { Database, Transaction } from '../../database/database.ts'
import type { ArtifactsTable } from '../../database/tables/artifacts.ts'
import { appendJournal } from '../../journal/journal.ts'
import { lastPromotion } from '../../journal/promotions.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { Failure, notFound } from '../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import { newId } from '../../kernel/ids.ts'
import { uploadLifetimeMs } from '../../kernel/limits.ts'
import { copyAnnotations } from '../annotations/annotations.ts'
import { publishedAmong, publishedArtifact } from '../artifacts/artifacts.ts'
import { putAside } from '../artifacts/deletion.ts'
import { eligibilityOf } from '../artifacts/eligibility.ts'
import { copyVersion, holderElsewhere } from '../packages/versions.ts'
import { refreshEntry } from '../search/entries.ts'
import { giveStages, type StageEntry, takeStages } from '../stages/stages.ts'
import { insertCopy, lockRepositories } from './promotion.queries.ts'

/**
 * Promotion brings a file from one repository into another. The copy is a file of its own, with its own id, that claims the
 * same bytes: nothing is copied, and either may be deleted without the other. A move gives the stages along and deletes the
 * source, which can be brought back while its grace period lasts. All of it is one transaction over both repositories.
 */
export interface PromotionParts {
  readonly database: Database
  readonly clock: Clock
  readonly capacityBytes: number
  readonly reach: ReachFaultPoint
}

export interface Promotion {
  readonly target: string
  readonly mode: 'copy' | 'move'
  readonly stages: readonly string[]
  readonly comment: string | null
}

export interface Promoted {
  readonly repository: string
  readonly artifactId: string
  readonly sourceRepository: string
  readonly sourceArtifactId: string
  readonly mode: 'copy' | 'move'
  /** Whether the copy came to be now. */
  readonly created: boolean
  readonly stages: string[]
}

interface Source {
  readonly repository: string
  readonly artifactId: string
}

interface By {
  readonly actor: string
  readonly now: string
}

/**
 * Promotes a file. Repeating it answers the copy that is there and changes nothing; a copy that was deleted meanwhile is made
 * anew, and a move finds the copy that was made before. Stages that are asked for and missing are given in any case. 404 for
 * what is not published, unless it was moved just there; 409 `source_not_deletable` for a move of what something keeps, 409
 * `stage_limit`, 507 `storage_quota`.
 */
export const promote = async (
  parts: PromotionParts,
  source: Source,
  wanted: Promotion,
  actor: string,
): Promise<Promoted> => {
  const promoted = await parts.database.transaction((tx) => promoteIn(tx, parts, source, wanted, actor))
  parts.reach('promotion.committed')
  return promoted
}

const promoteIn = async (
  tx: Transaction,
  parts: PromotionParts,
  source: Source,
  wanted: Promotion,
  actor: string,
): Promise<Promoted> => {
  const nowMs = parts.clock.now()
  const by = { actor, now: timestamp(nowMs) }
  // Claims before repositories, repositories in one order: whoever deletes or promotes the other way takes the same.
  await lockLive(tx, source.artifactId)
  const locked = await lockRepositories(tx, [source.repository, wanted.target])
  if (!locked.includes(wanted.target)) throw notFound('repository')
  parts.reach('promotion.locked')
  const found = (await eligibilityOf(tx, source.repository, [source.artifactId], null)).get(source.artifactId)
  const known =
    (await knownCopy(tx, source, wanted.target)) ??
    (found === undefined ? null : await sameVersion(tx, found.row, wanted.target))
  const asked = wanted.stages.map((stage) => ({ stage, promotedAt: by.now, actor, comment: wanted.comment }))
  const give = async (copy: string, carried: readonly StageEntry[], created: boolean): Promise<Promoted> => {
    const lacking = asked.filter(({ stage }) => carried.every((entry) => entry.stage !== stage))
    const stages = await giveStages(tx, wanted.target, copy, [...carried, ...lacking], by)
    parts.reach('promotion.staged')
    return told(source, wanted, { copy, created, stages: stages.map(({ stage }) => stage) })
  }
  if (found === undefined) {
    // The answer to the move that took it away may have been lost.
    if (wanted.mode === 'copy' || known?.mode !== 'move') throw notFound('artifact')
    return give(known.artifactId, [], false)
  }
  const copy = known?.artifactId ?? newId(nowMs)
  const isPackage = known === null && (await insertShared(tx, parts, found.row, { copy, target: wanted.target, nowMs }))
  const tellAll = (): Promise<void> => tell(tx, parts, source, { copy, isPackage }, { ...wanted, ...by })
  if (wanted.mode === 'copy') {
    if (known === null) await tellAll()
    return give(copy, [], known === null)
  }
  refuseKept(found.blockers)
  await tellAll()
  const carried = await takeStages(tx, source.repository, source.artifactId, by)
  const moved = await give(copy, carried, known === null)
  await putAside(tx, found.row, actor, by.now)
  parts.reach('promotion.moved')
  return moved
}

/** What the file was promoted to there before, if that is still there. */
const knownCopy = async (
  tx: Transaction,
  source: Source,
  target: string,
): Promise<Awaited<ReturnType<typeof lastPromotion>>> => {
  const last = await lastPromotion(tx, source, target)
  if (last === null) return null
  return (await publishedAmong(tx, target, [last.artifactId])).has(last.artifactId) ? last : null
}

/** The same version of the same package, with the same bytes, is the copy. With others it is refused when the copy is made. */
const sameVersion = async (
  tx: Transaction,
  row: ArtifactsTable,
  target: string,
): Promise<{ readonly artifactId: string; readonly mode: 'copy' } | null> => {
  const holder = await holderElsewhere(tx, row.id, target)
  if (holder === null) return null
  return (await publishedArtifact(tx, target, holder)).sha256 === row.sha256
    ? { artifactId: holder, mode: 'copy' }
    : null
}

const told = (
  source: Source,
  { target, mode }: Promotion,
  { copy, created, stages }: { readonly copy: string; readonly created: boolean; readonly stages: string[] },
): Promoted => ({
  repository: target,
  artifactId: copy,
  sourceRepository: source.repository,
  sourceArtifactId: source.artifactId,
  mode,
  created,
  stages,
})

/** Stages do not keep what is moved: they go along. */
const refuseKept = (blockers: readonly string[]): void => {
  const kept = blockers.filter((blocker) => blocker !== 'promotion_stage')
  if (kept.length > 0)
    throw new Failure(
      'source_not_deletable',
      `The source is kept by ${kept.join(', ')}. Copy it, or end what keeps it first.`,
    )
}

/** Makes the copy. Whether it is a package. */
const insertShared = async (
  tx: Transaction,
  { capacityBytes, reach }: PromotionParts,
  row: ArtifactsTable,
  { copy, target, nowMs }: { readonly copy: string; readonly target: string; readonly nowMs: number },
): Promise<boolean> => {
  const { name, size, sha256, labels, metadata } = row
  await share(tx, { id: copy, repository: target, digest: toSha256(sha256), bytes: size }, capacityBytes)
  const now = timestamp(nowMs)
  const times = { created_at: now, expires_at: timestamp(nowMs + uploadLifetimeMs), published_at: now }
  await insertCopy(tx, { id: copy, repository: target, name, size, sha256, labels, metadata, ...times })
  await copyAnnotations(tx, row.id, copy)
  await refreshEntry(tx, copy)
  const isPackage = await copyVersion(tx, row.id, { artifactId: copy, repository: target, now })
  reach('promotion.copied')
  return isPackage
}

/** One line in each of the two journals, each naming the other end. A package becomes one after the file has come. */
const tell = async (
  tx: Transaction,
  { reach }: PromotionParts,
  source: Source,
  { copy, isPackage }: { readonly copy: string; readonly isPackage: boolean },
  { target, mode, comment, actor, now }: Promotion & By,
): Promise<void> => {
  const shared = { detail: null, actor, occurredAt: now } as const
  await appendJournal(tx, {
    ...shared,
    ...source,
    action: 'artifact.promoted',
    promotion: { mode, peerRepository: target, peerArtifactId: copy, comment },
  })
  reach('promotion.told')
  const { repository: peerRepository, artifactId: peerArtifactId } = source
  await appendJournal(tx, {
    ...shared,
    repository: target,
    artifactId: copy,
    action: 'artifact.received',
    promotion: { mode, peerRepository, peerArtifactId, comment },
  })
  if (isPackage)
    await appendJournal(tx, { ...shared, repository: target, artifactId: copy, action: 'package.register' })
}
