import { type Kysely, sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Images as storage policies count them: by name, the newest tag first. And how many a run deleted. */
export const imagesByAge: Migration = {
  number: 35,
  name: 'images-by-age',
  async up(q, { text, integer }) {
    await q.schema.alterTable('oci_manifests').addColumn('tagged_at', text).execute()
    await q.schema
      .createIndex('oci_tags_of_manifest_by_time')
      .on('oci_tags')
      .columns(['manifest_id', 'moved_at', 'tag'])
      .execute()
    await fillTaggedAt(q)
    await sql`create index oci_manifests_by_age on oci_manifests (repository, name, tagged_at, id)
      where tagged_at is not null`.execute(q)
    await sql`create index oci_manifests_of_repository_by_age on oci_manifests (repository, tagged_at, id)
      where tagged_at is not null`.execute(q)
    await q.schema
      .alterTable('storage_policies')
      .addColumn('last_deleted_images', integer, (c) => c.notNull().defaultTo(0))
      .execute()
  },
}

/** Of what a tag is at by itself: no index lists it, and what it refers to is not there. */
const fillTaggedAt = async (q: Kysely<unknown>): Promise<void> => {
  await sql`update oci_manifests set tagged_at = (
      select max(t.moved_at) from oci_tags t where t.manifest_id = oci_manifests.id
      and not (substr(t.tag, 1, 7) in ('sha256-', 'sha512-') and length(t.tag) >= 71
        and substr(t.tag, 72, 1) in ('', '.')))
    where not exists (select 1 from oci_references r where r.repository = oci_manifests.repository
        and r.name = oci_manifests.name and r.role = 'manifest'
        and (r.digest = oci_manifests.digest or r.digest = oci_manifests.digest512))
      and not exists (select 1 from oci_manifests s where s.repository = oci_manifests.repository
        and s.name = oci_manifests.name
        and (s.digest = oci_manifests.subject or s.digest512 = oci_manifests.subject))`.execute(q)
}
