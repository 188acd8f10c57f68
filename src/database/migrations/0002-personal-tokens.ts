import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Personal access tokens. */
export const personalTokens: Migration = {
  number: 2,
  name: 'personal-tokens',
  async up(q, { text }) {
    await q.schema
      .createTable('personal_tokens')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('account_id', text, (c) => c.notNull().references('accounts.id'))
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('prefix', text, (c) => c.notNull())
      .addColumn('secret_sha256', text, (c) => c.notNull().unique())
      .addColumn('scope', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addColumn('expires_at', text, (c) => c.notNull())
      .addColumn('last_used_at', text)
      .addColumn('revoked_at', text)
      .execute()
    await q.schema
      .createIndex('personal_tokens_by_account')
      .on('personal_tokens')
      .columns(['account_id', 'id'])
      .execute()
    await q.schema
      .createIndex('personal_tokens_active')
      .on('personal_tokens')
      .columns(['account_id', 'expires_at'])
      .where(sql.ref('revoked_at'), 'is', null)
      .execute()
    await q.schema.createIndex('personal_tokens_by_end').on('personal_tokens').column('expires_at').execute()
  },
}
