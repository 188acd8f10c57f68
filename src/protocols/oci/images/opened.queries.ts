import type { Queries } from '../../../database/database.ts'

/** What is known of a manifest beside its bytes; undefined where it is gone. */
export const manifestFacts = (q: Queries, id: string) =>
  q
    .selectFrom('oci_manifests')
    .select(['artifact_type', 'content_bytes', 'platforms', 'pushed_at', 'actor', 'unused_since'])
    .where('id', '=', id)
    .executeTakeFirst()
