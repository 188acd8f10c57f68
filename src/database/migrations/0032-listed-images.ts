import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * What lists of images show, so that a page costs the same however much there is: how many tags and manifests an image
 * has, when something was pushed last, what a manifest is for and how much it takes; and the orders of tags by time.
 */
export const listedImages: Migration = {
  number: 32,
  name: 'listed-images',
  async up(q, { text, integer }) {
    const zero = { to: 'oci_images', type: integer, default: 0 }
    for (const { to, name, type, default: value } of [
      { ...zero, name: 'tags' },
      { ...zero, name: 'manifests' },
      { to: 'oci_images', name: 'pushed_at', type: text, default: '' },
      { to: 'oci_manifests', name: 'content_bytes', type: integer, default: 0 },
    ])
      await q.schema
        .alterTable(to)
        .addColumn(name, type, (c) => c.notNull().defaultTo(value))
        .execute()
    await q.schema.alterTable('oci_manifests').addColumn('platforms', text).execute()
    const here = sql`repository = oci_images.repository and name = oci_images.name`
    await sql`update oci_images set
      tags = (select count(*) from oci_tags where ${here}),
      manifests = (select count(*) from oci_manifests where ${here}),
      pushed_at = coalesce((select max(pushed_at) from oci_manifests where ${here}), created_at)`.execute(q)
    const named = sql`r.manifest_id = oci_manifests.id`
    await sql`update oci_manifests set content_bytes = coalesce((select sum(b.size) from oci_references r
      join oci_blobs b on b.id = r.blob_id where ${named}), 0)`.execute(q)
    await sql`update oci_manifests set content_bytes = coalesce((select sum(c.content_bytes) from oci_references r
      join oci_manifests c on c.repository = r.repository and c.name = r.name and c.digest = r.digest where ${named}), 0)
      where exists (select 1 from oci_references r where ${named} and r.role = 'manifest')`.execute(q)
    await q.schema
      .createIndex('oci_tags_by_time')
      .on('oci_tags')
      .columns(['repository', 'name', 'moved_at', 'tag'])
      .execute()
    await sql`create index oci_tag_moves_removed on oci_tag_moves (repository, name, moved_at, tag)
      where removed = 1`.execute(q)
  },
}
