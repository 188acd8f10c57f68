import type { Migration } from '../migration.ts'

/** What sequences of a journal a restore passed over. */
export const journalGaps: Migration = {
  number: 49,
  name: 'journal-gaps',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('journal_gaps')
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('beyond', integer, (c) => c.notNull())
      .addColumn('through', integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('journal_gaps_key', ['repository', 'beyond'])
      .execute()
  },
}
