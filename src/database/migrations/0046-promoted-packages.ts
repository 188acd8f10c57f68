import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Stages of npm versions, what was promoted from where, journals that tell of both, and what was deleted. */
export const promotedPackages: Migration = {
  number: 46,
  name: 'promoted-packages',
  async up(q, { text }) {
    await q.schema
      .createTable('npm_stages')
      .addColumn('version_id', text, (c) => c.notNull().references('npm_versions.id'))
      .addColumn('stage', text, (c) => c.notNull())
      .addColumn('repository', text, (c) => c.notNull())
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('version', text, (c) => c.notNull())
      .addColumn('promoted_at', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .addColumn('comment', text)
      .addPrimaryKeyConstraint('npm_stages_key', ['version_id', 'stage'])
      .execute()
    const ofStages = (name: string) => q.schema.createIndex(`npm_stages_${name}`).on('npm_stages')
    await ofStages('by_version').columns(['repository', 'name', 'version', 'stage']).execute()
    await ofStages('by_stage').columns(['repository', 'stage', 'name', 'version']).execute()
    await q.schema
      .createTable('npm_promotions')
      .addColumn('copy_id', text, (c) => c.notNull().references('npm_versions.id'))
      .addColumn('source_repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('mode', text, (c) => c.notNull())
      .addColumn('promoted_at', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('npm_promotions_key', ['copy_id', 'source_repository'])
      .execute()
    await q.schema
      .createIndex('npm_promotions_by_source')
      .on('npm_promotions')
      .columns(['source_repository', 'copy_id'])
      .execute()
    await sql`create index npm_versions_deleted on npm_versions (package_id, number) where deleted_at is not null`.execute(
      q,
    )
    const promotion = sql<boolean>`action in ('stage.added', 'stage.removed', 'artifact.promoted', 'artifact.received',
      'image.staged', 'image.unstaged', 'image.promoted', 'image.received',
      'package.staged', 'package.unstaged', 'package.promoted', 'package.received')`
    const ofJournal = { journal_promotions: ['sequence'], journal_promotions_by_artifact: ['artifact_id', 'sequence'] }
    for (const [name, columns] of Object.entries(ofJournal)) {
      await q.schema.dropIndex(name).execute()
      const index = q.schema
        .createIndex(name)
        .on('journal')
        .columns(['repository', ...columns])
      await index.where(promotion).execute()
    }
  },
}
