import type { Queries } from '../../database/database.ts'

const checked = (q: Queries) =>
  q
    .selectFrom('oci_manifests as m')
    .innerJoin('oci_blobs as b', 'b.id', 'm.blob_id')
    .select(['m.id', 'm.repository', 'm.name', 'm.media_type', 'm.artifact_type', 'm.subject', 'm.content_bytes'])
    .select(['b.sha256', 'b.size'])

/** What is said of manifests beside their bytes, in the order of their ids. */
export const manifestsAfter = (q: Queries, after: string, limit: number) =>
  checked(q).where('m.id', '>', after).orderBy('m.id').limit(limit).execute()

/** The same of one, if it is there. */
export const checkedManifest = (q: Queries, id: string) => checked(q).where('m.id', '=', id).executeTakeFirst()

export type CheckedManifest = Awaited<ReturnType<typeof manifestsAfter>>[number]

/** What a manifest is said to name. */
export const namesOf = (q: Queries, id: string) =>
  q.selectFrom('oci_references').select(['role', 'digest', 'blob_id']).where('manifest_id', '=', id).execute()

export type RecordedName = Awaited<ReturnType<typeof namesOf>>[number]
