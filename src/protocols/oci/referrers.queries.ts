import type { Queries } from '../../database/database.ts'

interface Wanted {
  readonly repository: string
  readonly name: string
  readonly subject: string
  /** None of them: all. */
  readonly artifactTypes: readonly string[]
  /** The digest that the page goes on behind. */
  readonly last: string
}

/** Manifests that refer to one, in the order of their SHA-256, without their annotations, which may be long. */
export const referrerPage = (q: Queries, wanted: Wanted, limit: number) => {
  const { repository, name, subject, artifactTypes, last } = wanted
  const page = q
    .selectFrom('oci_manifests as m')
    .innerJoin('oci_blobs as b', 'b.id', 'm.blob_id')
    .select(['m.id', 'm.digest', 'm.digest512', 'm.media_type', 'm.artifact_type', 'm.pushed_at', 'm.actor', 'b.size'])
    .where('m.repository', '=', repository)
    .where('m.name', '=', name)
    .where('m.subject', '=', subject)
    .where('m.digest', '>', last)
    .orderBy('m.digest')
    .limit(limit)
  return (artifactTypes.length === 0 ? page : page.where('m.artifact_type', 'in', artifactTypes)).execute()
}

export const annotationsOf = async (q: Queries, ids: readonly string[]): Promise<Map<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await q.selectFrom('oci_manifests').select(['id', 'annotations']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, annotations }) => [id, annotations ?? '{}']))
}
