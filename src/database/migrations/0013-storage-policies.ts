import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Storage policies with their schedule, storage events, and package versions by the time of their publication. */
export const storagePolicies: Migration = {
  number: 13,
  name: 'storage-policies',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('storage_policies')
      .addColumn('repository', text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('enabled', integer, (c) => c.notNull())
      .addColumn('grouping', text, (c) => c.notNull())
      .addColumn('keep_last', integer, (c) => c.notNull())
      .addColumn('channels', text, (c) => c.notNull())
      .addColumn('protected_labels', text, (c) => c.notNull())
      .addColumn('min_age_hours', integer, (c) => c.notNull())
      .addColumn('interval_minutes', integer, (c) => c.notNull())
      .addColumn('key_id', text)
      .addColumn('next_run_at', text)
      .addColumn('last_run_at', text)
      .addColumn('last_deleted', integer, (c) => c.notNull())
      .addColumn('last_error', text)
      .execute()
    await q.schema
      .createIndex('storage_policies_due')
      .on('storage_policies')
      .columns(['next_run_at', 'repository'])
      .where(sql.ref('next_run_at'), 'is not', null)
      .execute()
    await q.schema
      .createTable('storage_events')
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('sequence', integer, (c) => c.notNull())
      .addColumn('occurred_at', text, (c) => c.notNull())
      .addColumn('level', text, (c) => c.notNull())
      .addColumn('code', text, (c) => c.notNull())
      .addColumn('details', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('storage_events_key', ['repository', 'sequence'])
      .execute()
    // The oldest of all go first.
    await q.schema
      .createIndex('storage_events_by_time')
      .on('storage_events')
      .columns(['occurred_at', 'repository', 'sequence'])
      .execute()
    const repositories = () => q.schema.alterTable('repositories')
    await repositories()
      .addColumn('warning_percent', integer, (c) => c.notNull().defaultTo(80))
      .execute()
    await repositories()
      .addColumn('critical_percent', integer, (c) => c.notNull().defaultTo(95))
      .execute()
    await repositories()
      .addColumn('told_usage', text, (c) => c.notNull().defaultTo('unlimited'))
      .execute()
    await repositories()
      .addColumn('storage_event_head', integer, (c) => c.notNull().defaultTo(0))
      .execute()
    for (const [table, files] of [
      ['packages', 'artifacts'],
      ['freed_packages', 'deleted_artifacts'],
    ] as const) {
      await q.schema
        .alterTable(table)
        .addColumn('published_at', text, (c) => c.notNull().defaultTo(''))
        .execute()
      // A freed version without its deleted file is damage that the doctor tells of; it keeps the empty time.
      await sql`
        update ${sql.table(table)} set published_at =
          coalesce((select f.published_at from ${sql.table(files)} as f where f.id = ${sql.table(table)}.artifact_id), '')
      `.execute(q)
    }
    await q.schema
      .createIndex('packages_by_age')
      .on('packages')
      .columns(['repository', 'group_key', 'name_key', 'published_at', 'artifact_id'])
      .execute()
    await q.schema
      .createIndex('packages_of_repository_by_age')
      .on('packages')
      .columns(['repository', 'published_at', 'artifact_id'])
      .execute()
  },
}
