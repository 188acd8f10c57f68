import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { ArtifactReferencesTable } from '../../../database/tables/references.ts'

export type Reference = Pick<ArtifactReferencesTable, 'artifact_id' | 'owner' | 'key'>

/** False when it stands already. */
export const insertReference = async (tx: Transaction, row: ArtifactReferencesTable): Promise<boolean> => {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('artifact_references')
    .values(row)
    .onConflict((conflict) => conflict.columns(['artifact_id', 'owner', 'key']).doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** False when there was none. */
export const deleteReference = async (tx: Transaction, { artifact_id, owner, key }: Reference): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom('artifact_references')
    .where('artifact_id', '=', artifact_id)
    .where('owner', '=', owner)
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** How many references a file has, counted up to a bound. */
export const countReferences = async (q: Queries, artifactId: string, bound: number): Promise<number> =>
  (await q.selectFrom('artifact_references').select('key').where('artifact_id', '=', artifactId).limit(bound).execute())
    .length

/** References to a file, by owner and key, behind one. */
export const listReferences = (
  q: Queries,
  artifactId: string,
  after: { readonly owner: string; readonly key: string },
  limit: number,
): Promise<ArtifactReferencesTable[]> =>
  q
    .selectFrom('artifact_references')
    .selectAll()
    .where('artifact_id', '=', artifactId)
    .where(sql<boolean>`(owner, key) > (${after.owner}, ${after.key})`)
    .orderBy('owner')
    .orderBy('key')
    .limit(limit)
    .execute()
