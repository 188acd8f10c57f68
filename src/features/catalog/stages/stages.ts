import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { ArtifactStagesTable } from '../../../database/tables/stages.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { stagesPerArtifactMax } from '../../../kernel/limits/catalog.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { heldArtifact, publishedArtifact } from '../artifacts/artifacts.ts'
import { followStages } from '../packages/versions.ts'
import { deleteStage, insertStage, listStageRows, stageNamesOf, stageRowsOf } from './stages.queries.ts'

/**
 * Stages say how far a file has come: tested, approved, released. A file that has one is not deleted. Every stage that
 * comes or goes is a line of the promotion journal.
 */
export interface StageEntry {
  readonly artifactId: string
  readonly stage: string
  readonly promotedAt: string
  readonly actor: string
  readonly comment: string | null
}

export interface StageDeps {
  readonly database: Database
  readonly clock: Clock
}

/** A stage of a file, existing or not. */
export interface StageOf {
  readonly repository: string
  readonly id: string
  readonly stage: string
}

const toEntry = (row: ArtifactStagesTable): StageEntry => ({
  artifactId: row.artifact_id,
  stage: row.stage,
  promotedAt: row.promoted_at,
  actor: row.actor,
  comment: row.comment,
})

/** All stages of a file. 404 for what is not published. */
export const stagesOf = async (q: Queries, repository: string, id: string): Promise<StageEntry[]> => {
  await publishedArtifact(q, repository, id)
  return (await stageRowsOf(q, id)).map(toEntry)
}

/** Names of the stages of several files, in byte order. Files without one are left out. */
export const stagesAmong = async (q: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, string[]>> => {
  const found = new Map<string, string[]>()
  for (const { artifact_id, stage } of await stageNamesOf(q, ids))
    found.set(artifact_id, [...(found.get(artifact_id) ?? []), stage])
  return found
}

export interface StagePage {
  readonly stage: string | undefined
  readonly ids: readonly string[] | undefined
  /** `<artifactId>/<stage>`, the last one seen. */
  readonly after: string | undefined
  readonly limit: number
}

/** A page of stages in a repository, by file and stage, of one stage or of some files where that is asked for. */
export const stagePage = async (
  q: Queries,
  repository: string,
  { stage, ids, after, limit }: StagePage,
): Promise<Page<StageEntry>> => {
  const [artifactId = '', last = ''] = after?.split('/') ?? []
  const filter = {
    stage: stage ?? null,
    ids: ids ?? null,
    after: after === undefined ? null : { artifactId, stage: last },
  }
  const rows = await listStageRows(q, repository, filter, limit + 1)
  return pageOf(rows, limit, toEntry, (row) => `${row.artifact_id}/${row.stage}`)
}

/**
 * Gives a published file a stage. One that it has already stays exactly as it is, with its time, actor and comment, and
 * the journal is told nothing. 409 `stage_limit` when the file has as many as it may.
 */
export const addStage = (
  { database, clock }: StageDeps,
  { repository, id, stage }: StageOf,
  comment: string | null,
  actor: string,
): Promise<StageEntry> =>
  database.transaction(async (tx) => {
    await heldArtifact(tx, repository, id)
    const now = timestamp(clock.now())
    const wanted = { artifactId: id, stage, promotedAt: now, actor, comment }
    return (
      (await giveStages(tx, repository, id, [wanted], { actor, now })).find((entry) => entry.stage === stage) ?? wanted
    )
  })

/**
 * The same for several stages at once, of a file whose repository the caller has locked. All stages that it has then,
 * in byte order.
 */
export const giveStages = async (
  tx: Transaction,
  repository: string,
  id: string,
  wanted: readonly Omit<StageEntry, 'artifactId'>[],
  { actor, now }: { readonly actor: string; readonly now: string },
): Promise<StageEntry[]> => {
  const present = (await stageRowsOf(tx, id)).map(toEntry)
  const lacking = wanted.filter(({ stage }) => present.every((entry) => entry.stage !== stage))
  if (present.length + lacking.length > stagesPerArtifactMax)
    throw new Failure('stage_limit', `A file may have ${stagesPerArtifactMax} stages; take one from it first.`)
  for (const { stage, promotedAt, actor: promoter, comment } of lacking) {
    const row = { artifact_id: id, stage, repository, promoted_at: promotedAt, actor: promoter, comment }
    await insertStage(tx, row)
    const told = { repository, action: 'stage.added', artifactId: id, detail: stage, promotion: { comment } } as const
    await appendJournal(tx, { ...told, actor, occurredAt: now })
    present.push(toEntry(row))
  }
  if (lacking.length > 0) await followStages(tx, id)
  return present.sort((a, b) => (a.stage < b.stage ? -1 : 1))
}

/** Takes a stage from a published file. Harmless when it does not have it. */
export const removeStage = (
  { database, clock }: StageDeps,
  { repository, id, stage }: StageOf,
  actor: string,
): Promise<void> =>
  database.transaction(async (tx) => {
    await heldArtifact(tx, repository, id)
    if (!(await deleteStage(tx, id, stage))) return
    await followStages(tx, id)
    await tellOfRemoval(tx, { repository, id, stage }, { actor, now: timestamp(clock.now()) })
  })

/** Takes all stages from a file whose repository the caller has locked. What they were. */
export const takeStages = async (
  tx: Transaction,
  repository: string,
  id: string,
  by: { readonly actor: string; readonly now: string },
): Promise<StageEntry[]> => {
  const entries = (await stageRowsOf(tx, id)).map(toEntry)
  for (const { stage } of entries) {
    await deleteStage(tx, id, stage)
    await tellOfRemoval(tx, { repository, id, stage }, by)
  }
  if (entries.length > 0) await followStages(tx, id)
  return entries
}

const tellOfRemoval = (
  tx: Transaction,
  { repository, id, stage }: StageOf,
  { actor, now }: { readonly actor: string; readonly now: string },
): Promise<void> =>
  appendJournal(tx, { repository, action: 'stage.removed', artifactId: id, detail: stage, actor, occurredAt: now })
