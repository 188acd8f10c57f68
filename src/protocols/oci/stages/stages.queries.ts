import type { Queries, Transaction } from '../../../database/database.ts'
import type { OciStagesTable } from '../../../database/tables/images.ts'

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

/** Null for all of them. */
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
  { stage, name, digest, after }: StageFilter,
  limit: number,
): Promise<OciStagesTable[]> => {
  let query = q.selectFrom('oci_stages').selectAll().where('repository', '=', repository)
  if (name !== null) query = query.where('name', '=', name)
  if (digest !== null) query = query.where('digest', '=', digest)
  if (stage !== null) {
    query = query.where('stage', '=', stage)
    // Each manifest has the stage at most once.
    if (after !== null)
      query = query.where((eb) =>
        eb(eb.refTuple('name', 'digest'), stage > after.stage ? '>=' : '>', eb.tuple(after.name, after.digest)),
      )
  } else if (after !== null) {
    query = query.where((eb) =>
      eb(eb.refTuple('name', 'digest', 'stage'), '>', eb.tuple(after.name, after.digest, after.stage)),
    )
  }
  return query.orderBy('name').orderBy('digest').orderBy('stage').limit(limit).execute()
}
