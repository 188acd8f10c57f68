import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** When somebody last counted on a blob of images, also while a manifest names it. */
export const whoCountsOnBlobs: Migration = {
  number: 47,
  name: 'who-counts-on-blobs',
  async up(q, { text }) {
    await q.schema
      .alterTable('oci_blobs')
      .addColumn('counted_on_at', text, (c) => c.notNull().defaultTo(''))
      .execute()
    await sql`update oci_blobs set counted_on_at = coalesce(unused_since, created_at)`.execute(q)
  },
}
