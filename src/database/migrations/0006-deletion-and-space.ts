import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Deleted files that can be brought back, grace and quota of a repository, and what reclaim will have to tell. */
export const deletionAndSpace: Migration = {
  number: 6,
  name: 'deletion-and-space',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('deleted_artifacts')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('size', integer, (c) => c.notNull())
      .addColumn('sha256', text, (c) => c.notNull())
      .addColumn('labels', text, (c) => c.notNull())
      .addColumn('metadata', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addColumn('expires_at', text, (c) => c.notNull())
      .addColumn('published_at', text, (c) => c.notNull())
      .addColumn('deleted_at', text, (c) => c.notNull())
      .addColumn('released_at', text)
      .execute()
    await q.schema
      .createIndex('deleted_artifacts_released')
      .on('deleted_artifacts')
      .column('released_at')
      .where(sql.ref('released_at'), 'is not', null)
      .execute()
    await q.schema
      .createTable('reclaim_notes')
      .addColumn('sha256', text, (c) => c.notNull())
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('artifact_id', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('reclaim_notes_key', ['sha256', 'repository', 'artifact_id'])
      .execute()
    await q.schema.alterTable('repositories').addColumn('quota_bytes', integer).execute()
    await q.schema.alterTable('repositories').addColumn('grace_hours', integer).execute()
    await q.schema
      .alterTable('repositories')
      .addColumn('cleanup_revision', integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await q.schema
      .createIndex('claims_retired_by_repository')
      .on('claims')
      .columns(['repository', 'retired_at'])
      .where(sql.ref('retired_at'), 'is not', null)
      .execute()
    await q.schema.createIndex('asset_revisions_by_artifact').on('asset_revisions').column('artifact_id').execute()
  },
}
