import type { Migration } from '../migration.ts'

/** Bytes in the store that no row knows: since when, and how many. */
export const quarantine: Migration = {
  number: 22,
  name: 'quarantine',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('quarantine')
      .addColumn('name', text, (c) => c.primaryKey())
      .addColumn('size', integer, (c) => c.notNull())
      .addColumn('seen_at', text, (c) => c.notNull())
      .execute()
  },
}
