import type { ExpressionBuilder } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables/index.ts'
import type { NpmStagesTable } from '../../../database/tables/npm.ts'

/** All stages of a version, in byte order. */
export const stageRowsOf = (q: Queries, versionId: string): Promise<NpmStagesTable[]> =>
  q.selectFrom('npm_stages').selectAll().where('version_id', '=', versionId).orderBy('stage').execute()

export const insertStages = async (tx: Transaction, rows: readonly NpmStagesTable[]): Promise<void> => {
  if (rows.length > 0) await tx.insertInto('npm_stages').values(rows).execute()
}

/** Takes one stage from a version, or all of them; answers what they were. */
export const deleteStages = async (
  tx: Transaction,
  versionId: string,
  stage: string | null,
): Promise<NpmStagesTable[]> => {
  const all = tx.deleteFrom('npm_stages').where('version_id', '=', versionId)
  const rows = await (stage === null ? all : all.where('stage', '=', stage)).returningAll().execute()
  return rows.toSorted((one, other) => (one.stage < other.stage ? -1 : 1))
}

/** Null for all of them; a version is given with its name only. */
export interface StageFilter {
  readonly stage: string | null
  readonly name: string | null
  readonly version: string | null
  readonly after: Pick<NpmStagesTable, 'name' | 'version' | 'stage'> | null
}

/** Stages in a repository by name, version and stage, as bytes: with a stage given, an index holds just those. */
export const listStageRows = (
  q: Queries,
  repository: string,
  filter: StageFilter,
  limit: number,
): Promise<NpmStagesTable[]> => {
  const { stage, name, version } = filter
  const here = q.selectFrom('npm_stages').selectAll().where('repository', '=', repository)
  const named = name === null ? here : here.where('name', '=', name)
  const numbered = version === null ? named : named.where('version', '=', version)
  return (stage === null ? numbered : numbered.where('stage', '=', stage))
    .where((eb) => beyond(eb, filter))
    .orderBy('name')
    .orderBy('version')
    .orderBy('stage')
    .limit(limit)
    .execute()
}

/** Of what is the same in all rows nothing is said, so that both engines go on in the index where the page ended. */
const beyond = (eb: ExpressionBuilder<Tables, 'npm_stages'>, { stage, name, version, after }: StageFilter) => {
  if (after === null) return eb.and([])
  const columns = [
    ...(name === null ? (['name'] as const) : []),
    ...(version === null ? (['version'] as const) : []),
    ...(stage === null ? (['stage'] as const) : []),
  ]
  const [first, second, third] = columns
  if (first === undefined) return eb.lit(false)
  if (second === undefined) return eb(first, '>', after[first])
  if (third === undefined) return eb(eb.refTuple(first, second), '>', eb.tuple(after[first], after[second]))
  return eb(eb.refTuple(first, second, third), '>', eb.tuple(after[first], after[second], after[third]))
}
