import type { Migration } from '../migration.ts'

/** Sessions that people open for other programs, and the tokens that those get. */
export const signInsOfClients: Migration = {
  number: 36,
  name: 'sign-ins-of-clients',
  async up(q, { text, integer }) {
    await q.schema.alterTable('sessions').addColumn('opened_for', text).execute()
    await q.schema.createIndex('sessions_by_opened_for').on('sessions').column('opened_for').unique().execute()
    await q.schema
      .alterTable('personal_tokens')
      .addColumn('by_sign_in', integer, (c) => c.notNull().defaultTo(0))
      .execute()
  },
}
