import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Service accounts, their keys, delegations, and the part of the security audit that belongs to each account. */
export const serviceAccounts: Migration = {
  number: 3,
  name: 'service-accounts',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('service_accounts')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('name_key', text, (c) => c.notNull().unique())
      .addColumn('enabled', integer, (c) => c.notNull())
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('bindings', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .execute()
    await q.schema
      .createTable('service_keys')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('account_id', text, (c) => c.notNull().references('service_accounts.id'))
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('state', text, (c) => c.notNull())
      .addColumn('secret_sha256', text, (c) => c.notNull())
      .addColumn('bindings', text, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addColumn('expires_at', text, (c) => c.notNull())
      .addColumn('activation_expires_at', text, (c) => c.notNull())
      .addColumn('rotated_from', text)
      .addColumn('superseded_at', text)
      .addColumn('requested_by', text, (c) => c.notNull())
      .addColumn('idempotency_key', text, (c) => c.notNull())
      .addColumn('request_sha256', text, (c) => c.notNull())
      .addUniqueConstraint('service_keys_by_request', ['requested_by', 'idempotency_key'])
      .execute()
    await q.schema.createIndex('service_keys_by_account').on('service_keys').columns(['account_id', 'id']).execute()
    await q.schema
      .createTable('delegations')
      .addColumn('operator_key_id', text, (c) => c.notNull().references('service_keys.id'))
      .addColumn('account_id', text, (c) => c.notNull().references('service_accounts.id'))
      .addColumn('actions', text, (c) => c.notNull())
      .addColumn('ceiling', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('delegations_key', ['operator_key_id', 'account_id'])
      .execute()
    await q.schema.createIndex('delegations_by_account').on('delegations').column('account_id').execute()
    await q.schema.alterTable('security_audit').addColumn('service_account_id', text).execute()
    await q.schema
      .createIndex('security_audit_by_service_account')
      .on('security_audit')
      .columns(['service_account_id', 'sequence'])
      .where(sql.ref('service_account_id'), 'is not', null)
      .execute()
    await sql`insert into counters (name, value) values ('service_accounts', 0)`.execute(q)
  },
}
