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

/** The stages of some manifests, in the order of their bytes. */
export const stagesAmong = async (
  q: Queries,
  manifestIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const stages = new Map<string, string[]>()
  if (manifestIds.length === 0) return stages
  const rows = await q
    .selectFrom('oci_stages')
    .select(['manifest_id', 'stage'])
    .where('manifest_id', 'in', manifestIds)
    .orderBy('manifest_id')
    .orderBy('stage')
    .execute()
  for (const { manifest_id, stage } of rows) stages.set(manifest_id, [...(stages.get(manifest_id) ?? []), stage])
  return stages
}
