import type { Migration } from '../migration.ts'

/**
 * Revisions that say that a path shows nothing any more, paths of which that is the newest one, and which revision of a
 * path is the oldest that was not forgotten.
 */
export const pathsThatEnd: Migration = {
  number: 25,
  name: 'paths-that-end',
  async up(q, { text, integer }) {
    await q.schema
      .alterTable('asset_revisions')
      .addColumn('removed', integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await q.schema
      .alterTable('assets')
      .addColumn('oldest', integer, (c) => c.notNull().defaultTo(1))
      .execute()
    await q.schema
      .createTable('removed_paths')
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('path', text, (c) => c.notNull())
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('oldest', integer, (c) => c.notNull())
      .addColumn('removed_at', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('removed_paths_key', ['repository', 'path'])
      .execute()
  },
}
