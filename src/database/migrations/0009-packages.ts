import type { Kysely } from 'kysely'
import type { ColumnTypes, Migration } from '../migration.ts'

/** Package versions, what deleted files were, and versions by the stages that they have reached. */
export const packages: Migration = {
  number: 9,
  name: 'packages',
  async up(q, types) {
    await createVersions(q, types, 'packages')
    await createVersions(q, types, 'freed_packages')
    // Unique because a version's key says whether it is a pre-release.
    const index = (name: string) => q.schema.createIndex(`packages_${name}`).on('packages')
    await index('by_precedence')
      .unique()
      .columns(['repository', 'group_key', 'name_key', 'prerelease', 'version_key'])
      .execute()
    // One for each order of a listing, with and without a group or a name that it keeps to.
    await index('by_group').columns(['repository', 'group_key', 'name_key', 'version_key']).execute()
    await index('by_name').columns(['repository', 'name_key', 'group_key', 'version_key']).execute()
    await index('by_version').columns(['repository', 'version_key', 'name_key', 'group_key']).execute()
    await index('of_group_by_version').columns(['repository', 'group_key', 'version_key', 'name_key']).execute()
    await index('of_name_by_version').columns(['repository', 'name_key', 'version_key', 'group_key']).execute()
    await createStages(q, types)
  },
}

const createVersions = async (q: Kysely<unknown>, { text, integer }: ColumnTypes, table: string): Promise<void> => {
  await q.schema
    .createTable(table)
    .addColumn('artifact_id', text, (c) =>
      table === 'packages' ? c.primaryKey().references('artifacts.id') : c.primaryKey(),
    )
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('group_name', text, (c) => c.notNull())
    .addColumn('group_key', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('name_key', text, (c) => c.notNull())
    .addColumn('version', text, (c) => c.notNull())
    .addColumn('version_key', text, (c) => c.notNull())
    .addColumn('prerelease', integer, (c) => c.notNull())
    .addColumn('registered_at', text, (c) => c.notNull())
    .addColumn('manifest_bytes', integer, (c) => c.notNull())
    .addColumn('manifest', text, (c) => c.notNull())
    .execute()
}

const createStages = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('package_stages')
    .addColumn('artifact_id', text, (c) => c.notNull().references('packages.artifact_id'))
    .addColumn('stage', text, (c) => c.notNull())
    .addColumn('repository', text, (c) => c.notNull())
    .addColumn('group_key', text, (c) => c.notNull())
    .addColumn('name_key', text, (c) => c.notNull())
    .addColumn('prerelease', integer, (c) => c.notNull())
    .addColumn('version_key', text, (c) => c.notNull())
    .addColumn('promoted_at', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('package_stages_key', ['artifact_id', 'stage'])
    .execute()
  const index = (name: string) => q.schema.createIndex(`package_stages_${name}`).on('package_stages')
  await index('by_precedence')
    .columns([
      'repository',
      'group_key',
      'name_key',
      'stage',
      'prerelease',
      'version_key',
      'artifact_id',
      'promoted_at',
    ])
    .execute()
  // Looking for a range in the order of promotion reads nothing but this index.
  await index('by_promotion')
    .columns([
      'repository',
      'group_key',
      'name_key',
      'stage',
      'promoted_at',
      'version_key',
      'prerelease',
      'artifact_id',
    ])
    .execute()
}
