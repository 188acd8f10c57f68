import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Objects of Git LFS. */
export const lfsObjects: Migration = {
  number: 40,
  name: 'lfs-objects',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('lfs_objects')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('sha256', text, (c) => c.notNull())
      .addColumn('size', integer, (c) => c.notNull())
      .addColumn('pushed_at', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .addColumn('used_at', text, (c) => c.notNull())
      .addColumn('deleted_at', text)
      .execute()
    await sql`create unique index lfs_objects_here on lfs_objects (repository, sha256) where deleted_at is null`.execute(
      q,
    )
    await sql`create index lfs_objects_by_id on lfs_objects (repository, id) where deleted_at is null`.execute(q)
    await sql`create index lfs_objects_deleted on lfs_objects (repository, deleted_at, id) where deleted_at is not null`.execute(
      q,
    )
  },
}
