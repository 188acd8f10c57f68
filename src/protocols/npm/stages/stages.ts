import type { Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { NpmStagesTable } from '../../../database/tables/npm.ts'
import type { StageDeps } from '../../../features/catalog/stages/stages.ts'
import { appendJournalOfMany } from '../../../journal/repository/journal.ts'
import { packageLine } from '../../../journal/repository/package-lines.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { stagesPerArtifactMax } from '../../../kernel/limits/catalog.ts'
import { isStage } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import type { Change } from '../packages.ts'
import { type VersionName, versionAt } from '../versions.ts'
import { isPackageName } from '../vocabulary.ts'
import { deleteStages, insertStages, listStageRows, stageRowsOf } from './stages.queries.ts'

/**
 * Stages say how far a version of a package has come, in the words of those of files. One that has a stage is not taken
 * away. Every stage that comes or goes is a line of the promotion journal.
 */
export interface VersionStage {
  readonly package: string
  readonly version: string
  readonly stage: string
  readonly promotedAt: string
  readonly actor: string
  readonly comment: string | null
}

/** A version that stages come to and go from, under the lock of its repository. */
export interface StagedVersion extends VersionName {
  readonly id: string
}

const toStage = ({ name, version, stage, promoted_at, actor, comment }: NpmStagesTable): VersionStage => ({
  package: name,
  version,
  stage,
  promotedAt: promoted_at,
  actor,
  comment,
})

/** The version under the lock of its repository. 404 without it. */
const held = async (tx: Transaction, named: VersionName): Promise<StagedVersion> => {
  await lockRepository(tx, named.repository)
  return { ...named, id: (await versionAt(tx, named)).id }
}

/**
 * Gives a version a stage. One that it has already stays exactly as it is, with its time, actor and comment, and the
 * journal is told nothing. 404 without the version, 409 `stage_limit` when it has as many as it may.
 */
export const addStage = (
  { database, clock }: StageDeps,
  named: VersionName,
  stage: string,
  { actor, comment }: { readonly actor: string; readonly comment: string | null },
): Promise<VersionStage> =>
  database.transaction(async (tx) => {
    const version = await held(tx, named)
    const now = timestamp(clock.now())
    const all = await giveStages(tx, version, [{ stage, promotedAt: now, actor, comment }], { actor, now })
    const given = all.find((each) => each.stage === stage)
    if (given === undefined) throw new Error(`the stage ${stage} was given and is not there`)
    return given
  })

/** The same for several at once. All stages that the version has then, in byte order. */
export const giveStages = async (
  tx: Transaction,
  { id, repository, name, version }: StagedVersion,
  wanted: readonly Pick<VersionStage, 'stage' | 'promotedAt' | 'actor' | 'comment'>[],
  { actor, now }: Change,
): Promise<VersionStage[]> => {
  const there = await stageRowsOf(tx, id)
  const names = new Set(there.map(({ stage }) => stage))
  const rows = wanted
    .filter(({ stage }) => !names.has(stage))
    .map(({ stage, promotedAt, actor: promoter, comment }) => ({
      ...{ version_id: id, stage, repository, name, version },
      ...{ promoted_at: promotedAt, actor: promoter, comment },
    }))
  if (there.length + rows.length > stagesPerArtifactMax)
    throw new Failure('stage_limit', `A version may have ${stagesPerArtifactMax} stages; take one from it first.`)
  await insertStages(tx, rows)
  await appendJournalOfMany(
    tx,
    { repository, action: 'package.staged', actor, occurredAt: now },
    rows.map(({ stage, comment }) => ({
      ...{ artifactId: id, detail: packageLine(name, version, stage), promotion: { comment } },
    })),
  )
  return (await stageRowsOf(tx, id)).map(toStage)
}

/** Takes a stage from a version. Harmless when it does not have it. 404 without the version. */
export const removeStage = (
  { database, clock }: StageDeps,
  named: VersionName,
  stage: string,
  actor: string,
): Promise<void> =>
  database.transaction(async (tx) => {
    await takeStages(tx, await held(tx, named), stage, { actor, now: timestamp(clock.now()) })
  })

/** Takes one stage from a version, or all of them. What they were. */
export const takeStages = async (
  tx: Transaction,
  { id, repository, name, version }: StagedVersion,
  stage: string | null,
  { actor, now }: Change,
): Promise<VersionStage[]> => {
  const rows = await deleteStages(tx, id, stage)
  await appendJournalOfMany(
    tx,
    { repository, action: 'package.unstaged', actor, occurredAt: now },
    rows.map((row) => ({ artifactId: id, detail: packageLine(name, version, row.stage) })),
  )
  return rows.map(toStage)
}

export interface StagesAsked {
  readonly stage?: string | undefined
  readonly package?: string | undefined
  /** Of the package. */
  readonly version?: string | undefined
  readonly after?: string | undefined
  readonly limit: number
}

/** A page of stages by package, version and stage: of one stage, package or version where that is asked for. */
export const stagePage = async (
  q: Queries,
  repository: string,
  { after, limit, ...asked }: StagesAsked,
): Promise<Page<VersionStage>> => {
  const filter = { stage: asked.stage ?? null, name: asked.package ?? null, version: asked.version ?? null }
  const listing = ['stages of npm versions', repository, filter.stage, filter.name, filter.version]
  const position = after === undefined ? null : positionIn(listing, after)
  const rows = await listStageRows(q, repository, { ...filter, after: position }, limit + 1)
  return pageOf(rows, limit, toStage, (row) => opaqueCursor(listing, [row.name, row.version, row.stage]))
}

const isVersion = (text: string): boolean => text.length > 0 && text.length <= 256

const positionIn = (listing: readonly unknown[], after: string) => {
  const [name = '', version = '', stage = ''] = positionOfCursor(listing, after, [isPackageName, isVersion, isStage])
  return { name, version, stage }
}
