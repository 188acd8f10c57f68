import { lockLive } from '../../../content/claims/claims.ts'
import type { Database, Transaction } from '../../../database/database.ts'
import { lockRepositories } from '../../../database/locks.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { carryAnnotations } from '../../catalog/annotations/carrying.ts'
import { giveStages, type StageEntry, takeStages } from '../../catalog/stages/stages.ts'
import { putAside } from '../deletion/deletion.ts'
import { type Eligibility, eligibilityOf } from '../deletion/eligibility.ts'
import { type Copy, findCopy, makeCopy, record, registerCopy } from './copies.ts'
import { type By, type Source, tellSource, tellTarget } from './telling.ts'

/**
 * Promotion brings a file from one repository into another. The copy is a file of its own, with its own id, that claims
 * the same bytes: nothing is copied, and either may be deleted without the other. A move gives the stages along and
 * deletes the source, which can be brought back while its grace period lasts. All of it is one transaction over both
 * repositories.
 */
export interface PromotionDeps {
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

/**
 * Promotes a file. Repeating it answers the copy that is there; one that was deleted meanwhile is made anew unless it
 * came back, and a move finds the copy that was made before. What is asked for and missing is done in any case: stages
 * are given, and the copy becomes the package version that its source is by now. 404 for what is not published, unless
 * it was moved just there; 409 `version_exists` where the target has the version with other bytes, 409
 * `source_not_deletable` for a move of what something keeps, or of which something is said that cannot go along; 409
 * `stage_limit`, 507 `storage_quota`.
 */
export const promote = async (
  deps: PromotionDeps,
  source: Source,
  wanted: Promotion,
  actor: string,
): Promise<Promoted> => {
  const promoted = await deps.database.transaction((tx) => promoteIn(tx, deps, source, wanted, actor))
  deps.reach('promotion.committed')
  return promoted
}

const promoteIn = async (
  tx: Transaction,
  deps: PromotionDeps,
  source: Source,
  wanted: Promotion,
  actor: string,
): Promise<Promoted> => {
  const nowMs = deps.clock.now()
  const by = { actor, now: timestamp(nowMs) }
  const { target, mode } = wanted
  // Claims before repositories, repositories in one order: whoever deletes or promotes the other way takes the same.
  // Whoever annotates, registers, deletes or restores the copy takes the lock of its repository before looking at it.
  await lockLive(tx, source.artifactId)
  if (!(await lockRepositories(tx, [source.repository, target])).has(target)) throw notFound('repository')
  deps.reach('promotion.locked')
  const file = (await eligibilityOf(tx, source.repository, [source.artifactId], null)).get(source.artifactId)
  if (file !== undefined && mode === 'move') refuseKept(file)
  const there = await findCopy(tx, { ...source, row: file?.row ?? null }, target)
  const work = { tx, deps, source, wanted, by }
  if (file === undefined) {
    // The answer to the move that took it away may have been lost.
    if (there === null || mode === 'copy') throw notFound('artifact')
    await registerCopy(tx, there, by)
    return giveTo(work, there, [], false)
  }
  const copy = there ?? (await makeCopy(tx, file.row, { target, nowMs, capacityBytes: deps.capacityBytes, actor }))
  if (there === null) deps.reach('promotion.copied')
  return mode === 'move' ? moveTo(work, file, copy, there === null) : copyTo(work, copy, there === null)
}

interface Work {
  readonly tx: Transaction
  readonly deps: PromotionDeps
  readonly source: Source
  readonly wanted: Promotion
  readonly by: By
}

/** Both journals tell of what becomes source and copy; of what is that already, nothing. */
const copyTo = async (work: Work, copy: Copy, created: boolean): Promise<Promoted> => {
  const { tx, deps, source, wanted, by } = work
  if (copy.known === null) {
    await tellSource(tx, source, copy.row.id, wanted, by)
    deps.reach('promotion.told')
    await tellTarget(tx, source, copy.row.id, wanted, by)
    await record(tx, source, copy, { mode: 'copy', now: by.now, agreed: copy.agreed })
  }
  await registerCopy(tx, copy, by)
  return giveTo(work, copy, [], created)
}

/** The source goes: its journal tells where to. That of the target tells once of a file that it came from there. */
const moveTo = async (work: Work, file: Eligibility, copy: Copy, created: boolean): Promise<Promoted> => {
  const { tx, deps, source, wanted, by } = work
  await tellSource(tx, source, copy.row.id, wanted, by)
  deps.reach('promotion.told')
  if (copy.known === null) await tellTarget(tx, source, copy.row.id, wanted, by)
  await registerCopy(tx, copy, by)
  const agreed = await carryAnnotations(tx, file.row, copy.row, copy.agreed, by)
  await record(tx, source, copy, { mode: 'move', now: by.now, agreed })
  const carried = await takeStages(tx, source.repository, source.artifactId, by)
  const moved = await giveTo(work, copy, carried, created)
  await putAside(tx, file.row, by.actor, by.now)
  deps.reach('promotion.moved')
  return moved
}

/** The copy gets the stages that come along, and those asked for that it lacks then. */
const giveTo = async (
  { tx, deps, source, wanted, by }: Work,
  { row }: Copy,
  carried: readonly StageEntry[],
  created: boolean,
): Promise<Promoted> => {
  const { target, mode, comment } = wanted
  const asked = wanted.stages.map((stage) => ({ stage, promotedAt: by.now, actor: by.actor, comment }))
  const lacking = asked.filter(({ stage }) => carried.every((entry) => entry.stage !== stage))
  const stages = await giveStages(tx, target, row.id, [...carried, ...lacking], by)
  deps.reach('promotion.staged')
  return {
    repository: target,
    artifactId: row.id,
    sourceRepository: source.repository,
    sourceArtifactId: source.artifactId,
    mode,
    created,
    stages: stages.map(({ stage }) => stage),
  }
}

/** Stages do not keep what is moved: they go along. */
const refuseKept = ({ blockers }: Eligibility): void => {
  const kept = blockers.filter((blocker) => blocker !== 'promotion_stage')
  if (kept.length > 0)
    throw new Failure(
      'source_not_deletable',
      `The source is kept by ${kept.join(', ')}. Copy it, or end what keeps it first.`,
    )
}
