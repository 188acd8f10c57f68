import type { Migration } from '../migration.ts'

/** How the subscriptions of webhooks stand. They may name a repository that is yet to come. */
export const webhooks: Migration = {
  number: 42,
  name: 'webhooks',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('webhooks')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('repository', text, (c) => c.notNull())
      .addColumn('host', text, (c) => c.notNull())
      .addColumn('actions', text)
      .addColumn('created_at', text, (c) => c.notNull())
      .addColumn('named_at', text, (c) => c.notNull())
      .addColumn('holder', text)
      .addColumn('leased_until', text)
      .addColumn('last_success_at', text)
      .addColumn('failing_since', text)
      .addColumn('failures', integer, (c) => c.notNull().defaultTo(0))
      .addColumn('error_code', text)
      .addColumn('next_try_at', text)
      .addColumn('lost', integer, (c) => c.notNull().defaultTo(0))
      .execute()
  },
}
