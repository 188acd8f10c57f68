import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Stages of images, which image is the copy of which, and journals that tell of both. */
export const promotedImages: Migration = {
  number: 33,
  name: 'promoted-images',
  async up(q, { text }) {
    await q.schema
      .createTable('oci_stages')
      .addColumn('manifest_id', text, (c) => c.notNull().references('oci_manifests.id'))
      .addColumn('stage', text, (c) => c.notNull())
      .addColumn('repository', text, (c) => c.notNull())
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('digest', text, (c) => c.notNull())
      .addColumn('promoted_at', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .addColumn('comment', text)
      .addPrimaryKeyConstraint('oci_stages_key', ['manifest_id', 'stage'])
      .execute()
    const ofStages = (name: string) => q.schema.createIndex(`oci_stages_${name}`).on('oci_stages')
    await ofStages('by_image').columns(['repository', 'name', 'digest', 'stage']).execute()
    await ofStages('by_stage').columns(['repository', 'stage', 'name', 'digest']).execute()
    await q.schema
      .createTable('oci_promotions')
      .addColumn('copy_id', text, (c) => c.notNull().references('oci_manifests.id'))
      .addColumn('source_repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('source_name', text, (c) => c.notNull())
      .addColumn('moved_tag', text)
      .addColumn('mode', text, (c) => c.notNull())
      .addColumn('promoted_at', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('oci_promotions_key', ['copy_id', 'source_repository', 'source_name'])
      .execute()
    await q.schema
      .createIndex('oci_promotions_by_source')
      .on('oci_promotions')
      .columns(['source_repository', 'source_name', 'moved_tag', 'promoted_at'])
      .execute()
    await q.schema.alterTable('journal').addColumn('peer_image', text).execute()
    const promotion = sql<boolean>`action in ('stage.added', 'stage.removed', 'artifact.promoted', 'artifact.received',
      'image.staged', 'image.unstaged', 'image.promoted', 'image.received')`
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
