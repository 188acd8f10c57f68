import type { Migration } from '../migration.ts'

/** Public keys by which download links are checked. A few rows: one for each start and each week of a gateway. */
export const linkKeys: Migration = {
  number: 5,
  name: 'link-keys',
  async up(q, { text }) {
    await q.schema
      .createTable('link_keys')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('public_key', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addColumn('ends_at', text, (c) => c.notNull())
      .execute()
    await q.schema.createIndex('link_keys_by_end').on('link_keys').column('ends_at').execute()
  },
}
