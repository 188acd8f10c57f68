import type { Migration } from '../migration.ts'

/** What people and systems say of a file after its upload. */
export const annotations: Migration = {
  number: 11,
  name: 'annotations',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('annotations')
      .addColumn('artifact_id', text, (c) => c.primaryKey())
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('labels', text, (c) => c.notNull())
      .addColumn('metadata', text, (c) => c.notNull())
      .addColumn('collections', text, (c) => c.notNull())
      .execute()
  },
}
