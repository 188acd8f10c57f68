import type { Migration } from '../migration.ts'

/** How full repositories were, and what the service had to do, from time to time. */
export const samples: Migration = {
  number: 51,
  name: 'samples',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('usage_samples')
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('taken_at', text, (c) => c.notNull())
      .addColumn('published_bytes', integer, (c) => c.notNull())
      .addColumn('pending_bytes', integer, (c) => c.notNull())
      .addColumn('retired_bytes', integer, (c) => c.notNull())
      .addColumn('quota_bytes', integer)
      .addPrimaryKeyConstraint('usage_samples_key', ['repository', 'taken_at'])
      .execute()
    await q.schema.createIndex('usage_samples_by_age').on('usage_samples').columns(['taken_at']).execute()
    await q.schema
      .createTable('service_samples')
      .addColumn('taken_at', text, (c) => c.primaryKey())
      .addColumn('published_bytes', integer, (c) => c.notNull())
      .addColumn('reserved_bytes', integer, (c) => c.notNull())
      .addColumn('open_sessions', integer, (c) => c.notNull())
      .addColumn('open_jobs', integer, (c) => c.notNull())
      .execute()
  },
}
