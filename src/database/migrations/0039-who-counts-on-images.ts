import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** When somebody last counted on a manifest, also while something keeps it; and below which name a blob came. */
export const whoCountsOnImages: Migration = {
  number: 39,
  name: 'who-counts-on-images',
  async up(q, { text }) {
    await q.schema
      .alterTable('oci_manifests')
      .addColumn('counted_on_at', text, (c) => c.notNull().defaultTo(''))
      .execute()
    await sql`update oci_manifests set counted_on_at = coalesce(unused_since, pushed_at)`.execute(q)
    await q.schema.alterTable('oci_blobs').addColumn('sent_below', text).execute()
    await sql`create index oci_blobs_unused_below on oci_blobs (repository, sent_below, unused_since)
      where unused_since is not null`.execute(q)
    await sql`create index uploads_appended_below on uploads (repository, name, expires_at)
      where kind = 'appended' and status = 'pending'`.execute(q)
  },
}
