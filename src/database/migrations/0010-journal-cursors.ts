import type { Migration } from '../migration.ts'

/** How far consumers have come in the journals, so that nothing is forgotten before they saw it. */
export const journalCursors: Migration = {
  number: 10,
  name: 'journal-cursors',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('journal_cursors')
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('sequence', integer, (c) => c.notNull())
      .addColumn('moved_at', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('journal_cursors_key', ['repository', 'name'])
      .execute()
  },
}
