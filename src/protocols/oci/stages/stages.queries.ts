import type { ExpressionBuilder } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { OciStagesTable } from '../../../database/tables/images.ts'
import type { Tables } from '../../../database/tables/index.ts'

/** All stages of a manifest, in byte order. */
export const stageRowsOf = (q: Queries, manifestId: string): Promise<OciStagesTable[]> =>
  q.selectFrom('oci_stages').selectAll().where('manifest_id', '=', manifestId).orderBy('stage').execute()

export const insertStage = async (tx: Transaction, row: OciStagesTable): Promise<void> => {
  await tx.insertInto('oci_stages').values(row).execute()
}

/** False when there was none. */
export const deleteStage = async (tx: Transaction, manifestId: string, stage: string): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom('oci_stages')
    .where('manifest_id', '=', manifestId)
    .where('stage', '=', stage)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Null for all of them; a digest is given with its name only. */
export interface StageFilter {
  readonly stage: string | null
  readonly name: string | null
  readonly digest: string | null
  readonly after: Pick<OciStagesTable, 'name' | 'digest' | 'stage'> | null
}

/** Stages of images in a repository by name, digest and stage: with a stage given, an index holds just those. */
export const listStageRows = (
  q: Queries,
  repository: string,
  filter: StageFilter,
  limit: number,
): Promise<OciStagesTable[]> => {
  const { stage, name, digest } = filter
  let query = q.selectFrom('oci_stages').selectAll().where('repository', '=', repository)
  if (name !== null) query = query.where('name', '=', name)
  if (digest !== null) query = query.where('digest', '=', digest)
  if (stage !== null) query = query.where('stage', '=', stage)
  return query
    .where((eb) => beyond(eb, filter))
    .orderBy('name')
    .orderBy('digest')
    .orderBy('stage')
    .limit(limit)
    .execute()
}

/** Only of what is not the same in all rows, so that both engines go on in the index where the page before ended. */
const beyond = (eb: ExpressionBuilder<Tables, 'oci_stages'>, { stage, name, digest, after }: StageFilter) => {
  if (after === null) return eb.and([])
  if (digest !== null) return eb('stage', '>', after.stage)
  if (name !== null && stage !== null) return eb('digest', '>', after.digest)
  if (name !== null) return eb(eb.refTuple('digest', 'stage'), '>', eb.tuple(after.digest, after.stage))
  if (stage !== null) return eb(eb.refTuple('name', 'digest'), '>', eb.tuple(after.name, after.digest))
  return eb(eb.refTuple('name', 'digest', 'stage'), '>', eb.tuple(after.name, after.digest, after.stage))
}
