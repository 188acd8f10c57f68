import { type Kysely, sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What manifests name and were pushed without is found when it comes; what came before is found now. */
export const layersThatComeLater: Migration = {
  number: 38,
  name: 'layers-that-come-later',
  async up(q) {
    await attach(q)
    await sql`create index oci_references_elsewhere on oci_references (repository, digest)
      where blob_id is null and role <> 'manifest'`.execute(q)
  },
}

const attach = async (q: Kysely<unknown>): Promise<void> => {
  for (const algorithm of ['sha256', 'sha512'])
    await sql`update oci_references set blob_id = b.id from oci_blobs b
      where oci_references.repository = b.repository and b.${sql.ref(algorithm)} = substr(oci_references.digest, 8)
        and oci_references.blob_id is null and oci_references.role <> 'manifest'`.execute(q)
  await sql`update oci_blobs set unused_since = null where unused_since is not null
    and exists (select 1 from oci_references r where r.blob_id = oci_blobs.id)`.execute(q)
}
