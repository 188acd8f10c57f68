import type { Migration } from '../migration.ts'

/** Locks of Git LFS, and whether a repository has any. */
export const lfsLocks: Migration = {
  number: 41,
  name: 'lfs-locks',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('lfs_locks')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('sub_path', text, (c) => c.notNull())
      .addColumn('path', text, (c) => c.notNull())
      .addColumn('digest', text, (c) => c.notNull())
      .addColumn('locked_at', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .execute()
    await q.schema
      .createIndex('lfs_locks_by_digest')
      .unique()
      .on('lfs_locks')
      .columns(['repository', 'digest'])
      .execute()
    await q.schema.createIndex('lfs_locks_by_id').on('lfs_locks').columns(['repository', 'sub_path', 'id']).execute()
    await q.schema
      .createTable('lfs_settings')
      .addColumn('repository', text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('locking', integer, (c) => c.notNull())
      .addColumn('saved_at', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .execute()
  },
}
