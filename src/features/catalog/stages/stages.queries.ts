import type { Queries, Transaction } from '../../../database/database.ts'
import type { ArtifactStagesTable } from '../../../database/tables/stages.ts'

/** All stages of a file, in byte order. */
export const stageRowsOf = (q: Queries, artifactId: string): Promise<ArtifactStagesTable[]> =>
  q.selectFrom('artifact_stages').selectAll().where('artifact_id', '=', artifactId).orderBy('stage').execute()

/** Files and their stages, in byte order. */
export const stageNamesOf = (q: Queries, ids: readonly string[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : q
        .selectFrom('artifact_stages')
        .select(['artifact_id', 'stage'])
        .where('artifact_id', 'in', ids)
        .orderBy('artifact_id')
        .orderBy('stage')
        .execute()

export interface StageFilter {
  readonly stage: string | null
  /** Null for all files. */
  readonly ids: readonly string[] | null
  readonly after: { readonly artifactId: string; readonly stage: string } | null
}

/** Stages in a repository by file and stage. With a stage or with files given, an index holds just those. */
export const listStageRows = (
  q: Queries,
  repository: string,
  { stage, ids, after }: StageFilter,
  limit: number,
): Promise<ArtifactStagesTable[]> => {
  let query = q.selectFrom('artifact_stages').selectAll().where('repository', '=', repository)
  if (ids !== null) query = query.where('artifact_id', 'in', ids)
  if (stage !== null) {
    query = query.where('stage', '=', stage)
    // Each file has the stage at most once; said so plainly that both engines go on in the index where the page before
    // ended.
    if (after !== null) query = query.where('artifact_id', stage > after.stage ? '>=' : '>', after.artifactId)
  } else if (after !== null) {
    query = query.where((eb) => eb(eb.refTuple('artifact_id', 'stage'), '>', eb.tuple(after.artifactId, after.stage)))
  }
  return query.orderBy('artifact_id').orderBy('stage').limit(limit).execute()
}

export const insertStage = async (tx: Transaction, row: ArtifactStagesTable): Promise<void> => {
  await tx.insertInto('artifact_stages').values(row).execute()
}

/** False when there was none. */
export const deleteStage = async (tx: Transaction, artifactId: string, stage: string): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom('artifact_stages')
    .where('artifact_id', '=', artifactId)
    .where('stage', '=', stage)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Stages that stand under another repository than their file. */
export const misplacedStages = (q: Queries, limit: number) =>
  q
    .selectFrom('artifact_stages')
    .innerJoin('artifacts', 'artifacts.id', 'artifact_stages.artifact_id')
    .select(['artifacts.repository', 'artifact_stages.artifact_id', 'artifact_stages.stage'])
    .whereRef('artifacts.repository', '!=', 'artifact_stages.repository')
    .limit(limit)
    .execute()
