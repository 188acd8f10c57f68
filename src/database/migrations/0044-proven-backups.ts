import type { Migration } from '../migration.ts'

/**
 * Points that somebody gives up, restores that were tried, files of the store and repositories that a vault brought
 * back.
 */
export const provenBackups: Migration = {
  number: 44,
  name: 'proven-backups',
  async up(q, { text, integer }) {
    await q.schema.alterTable('backup_points').addColumn('forgotten_at', text).execute()
    await q.schema
      .createTable('backup_rehearsals')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('vault_id', text, (c) => c.notNull())
      .addColumn('point_id', text, (c) => c.notNull())
      .addColumn('snapshot_at', text, (c) => c.notNull())
      .addColumn('begun_at', text, (c) => c.notNull())
      .addColumn('ended_at', text)
      .addColumn('error_code', text)
      .addColumn('row_count', integer, (c) => c.notNull())
      .addColumn('blobs', integer, (c) => c.notNull())
      .addColumn('answers', integer, (c) => c.notNull())
      .execute()
    await q.schema
      .createTable('healed_blobs')
      .addColumn('sha256', text, (c) => c.notNull())
      .addColumn('healed_at', text, (c) => c.notNull())
      .addColumn('finding', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('healed_blobs_key', ['sha256', 'healed_at'])
      .execute()
    await q.schema
      .createTable('restored_repositories')
      .addColumn('repository', text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('source', text, (c) => c.notNull())
      .addColumn('point_id', text, (c) => c.notNull())
      .addColumn('begun_at', text, (c) => c.notNull())
      .addColumn('finished_at', text)
      .execute()
  },
}
