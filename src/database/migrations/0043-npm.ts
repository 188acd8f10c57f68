import { type Kysely, sql } from 'kysely'
import type { ColumnTypes, Migration } from '../migration.ts'

/** npm packages: names, versions and tags, and the documents of packages in pieces. */
export const npm: Migration = {
  number: 43,
  name: 'npm',
  async up(q, types) {
    await createPackages(q, types)
    await createVersions(q, types)
    await createDocuments(q, types)
  },
}

const createPackages = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('npm_packages')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('revision', integer, (c) => c.notNull())
    .addColumn('created_at', text, (c) => c.notNull())
    .addColumn('modified_at', text, (c) => c.notNull())
    .addColumn('versions', integer, (c) => c.notNull())
    .addColumn('last_number', integer, (c) => c.notNull())
    .addColumn('maintainers', text, (c) => c.notNull())
    .addColumn('stars', text, (c) => c.notNull())
    .addColumn('summary', text)
    .addColumn('found_by', text, (c) => c.notNull())
    .execute()
  await q.schema
    .createIndex('npm_packages_by_name')
    .unique()
    .on('npm_packages')
    .columns(['repository', 'name'])
    .execute()
  await sql`create index npm_packages_listed on npm_packages (repository, name) where versions > 0`.execute(q)
}

const createVersions = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('npm_versions')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('package_id', text, (c) => c.notNull().references('npm_packages.id'))
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('number', integer, (c) => c.notNull())
    .addColumn('piece', integer)
    .addColumn('sha256', text, (c) => c.notNull())
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('sha1', text, (c) => c.notNull())
    .addColumn('sha512', text, (c) => c.notNull())
    .addColumn('files', integer, (c) => c.notNull())
    .addColumn('unpacked_size', integer, (c) => c.notNull())
    .addColumn('manifest', text, (c) => c.notNull())
    .addColumn('readme', text)
    .addColumn('attestations', text)
    .addColumn('deprecated', text)
    .addColumn('published_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('deleted_at', text)
    .execute()
  await q.schema
    .createIndex('npm_versions_by_version')
    .unique()
    .on('npm_versions')
    .columns(['repository', 'name', 'version'])
    .execute()
  await q.schema.createIndex('npm_versions_by_number').on('npm_versions').columns(['package_id', 'number']).execute()
  await sql`create index npm_versions_by_piece on npm_versions (package_id, piece, number) where piece is not null`.execute(
    q,
  )
  await q.schema
    .createTable('npm_taken_versions')
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('released_at', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('npm_taken_versions_key', ['repository', 'name', 'version'])
    .execute()
  await q.schema
    .createTable('npm_tags')
    .addColumn('package_id', text, (c) => c.notNull().references('npm_packages.id'))
    .addColumn('tag', text, (c) => c.notNull())
    .addColumn('version_id', text, (c) => c.notNull().references('npm_versions.id'))
    .addColumn('moved_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('npm_tags_key', ['package_id', 'tag'])
    .execute()
  await q.schema.createIndex('npm_tags_of_version').on('npm_tags').columns(['version_id', 'tag']).execute()
}

const createDocuments = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('npm_documents')
    .addColumn('package_id', text, (c) => c.primaryKey().references('npm_packages.id'))
    .addColumn('head', text, (c) => c.notNull())
    .addColumn('times', text, (c) => c.notNull())
    .addColumn('tail', text, (c) => c.notNull())
    .addColumn('abbreviated_head', text, (c) => c.notNull())
    .execute()
  await q.schema
    .createTable('npm_pieces')
    .addColumn('package_id', text, (c) => c.notNull().references('npm_packages.id'))
    .addColumn('number', integer, (c) => c.notNull())
    .addColumn('versions', text, (c) => c.notNull())
    .addColumn('abbreviated', text, (c) => c.notNull())
    .addColumn('times', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('npm_pieces_key', ['package_id', 'number'])
    .execute()
}
