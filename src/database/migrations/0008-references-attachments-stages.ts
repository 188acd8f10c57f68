import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What keeps a file (references, attachments with their history, stages), and promotions in the journal. */
export const referencesAttachmentsStages: Migration = {
  number: 8,
  name: 'references-attachments-stages',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('artifact_references')
      .addColumn('artifact_id', text, (c) => c.notNull().references('artifacts.id'))
      .addColumn('owner', text, (c) => c.notNull())
      .addColumn('key', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('artifact_references_key', ['artifact_id', 'owner', 'key'])
      .execute()
    await q.schema
      .createTable('attachment_revisions')
      .addColumn('artifact_id', text, (c) => c.notNull())
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('attachment_revisions_key', ['artifact_id', 'revision'])
      .execute()
    await q.schema
      .createTable('attachments')
      .addColumn('artifact_id', text, (c) => c.notNull())
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('position', integer, (c) => c.notNull())
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('kind', text, (c) => c.notNull())
      .addColumn('target_id', text, (c) => c.notNull())
      .addColumn('description', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('attachments_key', ['artifact_id', 'revision', 'position'])
      .addForeignKeyConstraint('attachments_revision', ['artifact_id', 'revision'], 'attachment_revisions', [
        'artifact_id',
        'revision',
      ])
      .execute()
    await q.schema
      .createIndex('attachments_by_target')
      .on('attachments')
      .columns(['target_id', 'artifact_id'])
      .execute()
    await q.schema
      .createTable('artifact_stages')
      .addColumn('artifact_id', text, (c) => c.notNull().references('artifacts.id'))
      .addColumn('stage', text, (c) => c.notNull())
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('promoted_at', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .addColumn('comment', text)
      .addPrimaryKeyConstraint('artifact_stages_key', ['artifact_id', 'stage'])
      .execute()
    await q.schema
      .createIndex('artifact_stages_by_repository')
      .on('artifact_stages')
      .columns(['repository', 'artifact_id', 'stage'])
      .execute()
    await q.schema
      .createIndex('artifact_stages_by_stage')
      .on('artifact_stages')
      .columns(['repository', 'stage', 'artifact_id'])
      .execute()
    // Deleting a file must not read all paths to see that none shows it.
    await q.schema.createIndex('assets_by_artifact').on('assets').column('artifact_id').execute()
    for (const column of ['mode', 'peer_repository', 'peer_artifact_id', 'comment'])
      await q.schema.alterTable('journal').addColumn(column, text).execute()
    const promotion = sql<boolean>`action in ('stage.added', 'stage.removed', 'artifact.promoted', 'artifact.received')`
    await q.schema
      .createIndex('journal_promotions')
      .on('journal')
      .columns(['repository', 'sequence'])
      .where(promotion)
      .execute()
    await q.schema
      .createIndex('journal_promotions_by_artifact')
      .on('journal')
      .columns(['repository', 'artifact_id', 'sequence'])
      .where(promotion)
      .execute()
  },
}
