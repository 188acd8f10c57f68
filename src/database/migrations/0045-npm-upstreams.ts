import { type Kysely, sql } from 'kysely'
import type { ColumnTypes, Migration } from '../migration.ts'

/** Repositories of npm packages look through to another registry, and keep what came from there. */
export const npmUpstreams: Migration = {
  number: 45,
  name: 'npm-upstreams',
  async up(q, types) {
    await createUpstreams(q, types)
    await createCached(q, types)
    if (types.engine === 'sqlite') return
    // They are compressed already.
    await sql`alter table npm_cached_pieces alter column bytes set storage external`.execute(q)
  },
}

const createUpstreams = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('npm_upstreams')
    .addColumn('repository', text, (c) => c.primaryKey().references('repositories.id'))
    .addColumn('revision', integer, (c) => c.notNull())
    .addColumn('url', text)
    .addColumn('reserved', text, (c) => c.notNull())
    .addColumn('fresh_seconds', integer, (c) => c.notNull())
    .addColumn('saved_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .execute()
  await q.schema
    .createTable('npm_fetches')
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('holder', text, (c) => c.notNull())
    .addColumn('leased_until', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('npm_fetches_key', ['repository', 'name', 'version'])
    .execute()
  await q.schema.createIndex('npm_fetches_by_end').on('npm_fetches').column('leased_until').execute()
}

const createCached = async (q: Kysely<unknown>, { text, integer, bytes }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('npm_cached_packages')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('url', text, (c) => c.notNull())
    .addColumn('etag', text)
    .addColumn('sha256', text)
    .addColumn('revision', integer, (c) => c.notNull())
    .addColumn('fetched_at', text, (c) => c.notNull())
    .addColumn('checked_at', text, (c) => c.notNull())
    .addColumn('versions', integer, (c) => c.notNull())
    .addColumn('left_out', integer, (c) => c.notNull())
    .addColumn('tags', text, (c) => c.notNull())
    .addColumn('bytes', integer, (c) => c.notNull())
    .addColumn('failure', text)
    .addColumn('failed_at', text)
    .execute()
  await q.schema
    .createIndex('npm_cached_packages_by_name')
    .unique()
    .on('npm_cached_packages')
    .columns(['repository', 'name'])
    .execute()
  await sql`create index npm_cached_packages_by_use on npm_cached_packages (repository, checked_at, bytes)
    where bytes > 0`.execute(q)
  await q.schema
    .createTable('npm_cached_pieces')
    .addColumn('package_id', text, (c) => c.notNull().references('npm_cached_packages.id'))
    .addColumn('part', text, (c) => c.notNull())
    .addColumn('number', integer, (c) => c.notNull())
    .addColumn('bytes', bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('npm_cached_pieces_key', ['package_id', 'part', 'number'])
    .execute()
  await q.schema
    .createTable('npm_cached_versions')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('package_id', text, (c) => c.notNull().references('npm_cached_packages.id'))
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('sha256', text, (c) => c.notNull())
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('sha1', text, (c) => c.notNull())
    .addColumn('sha512', text, (c) => c.notNull())
    .addColumn('fetched_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .execute()
  await q.schema
    .createIndex('npm_cached_versions_by_version')
    .unique()
    .on('npm_cached_versions')
    .columns(['repository', 'name', 'version'])
    .execute()
  await q.schema
    .createIndex('npm_cached_versions_of_package')
    .on('npm_cached_versions')
    .columns(['package_id', 'version'])
    .execute()
}
