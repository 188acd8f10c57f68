import type { Queries } from '../../database/database.ts'

/** Those of some manifests that have a stage: nothing deletes them before it is taken from them. */
export const stagedAmong = async (q: Queries, manifestIds: readonly string[]): Promise<ReadonlySet<string>> => {
  const rows = await q
    .selectFrom('oci_stages')
    .select('manifest_id')
    .distinct()
    .where('manifest_id', 'in', manifestIds)
    .execute()
  return new Set(rows.map(({ manifest_id }) => manifest_id))
}
