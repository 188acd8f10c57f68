import type { Migration } from '../migration.ts'

/** What was said of files before, and by whom. */
export const annotationHistory: Migration = {
  number: 50,
  name: 'annotation-history',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('annotation_revisions')
      .addColumn('artifact_id', text, (c) => c.notNull())
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('labels', text, (c) => c.notNull())
      .addColumn('metadata', text, (c) => c.notNull())
      .addColumn('collections', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('annotation_revisions_key', ['artifact_id', 'revision'])
      .execute()
  },
}
