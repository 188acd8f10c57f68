import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** npm versions as storage policies count them: by package, the newest first. And how many a run deleted. */
export const npmVersionsByAge: Migration = {
  number: 48,
  name: 'npm-versions-by-age',
  async up(q, { integer }) {
    await sql`create index npm_versions_by_age on npm_versions (repository, name, published_at, id, deleted_at)
      where deleted_at is null`.execute(q)
    await sql`create index npm_versions_of_repository_by_age on npm_versions (repository, published_at, id, deleted_at)
      where deleted_at is null`.execute(q)
    await q.schema
      .alterTable('storage_policies')
      .addColumn('last_deleted_npm_versions', integer, (c) => c.notNull().defaultTo(0))
      .execute()
  },
}
