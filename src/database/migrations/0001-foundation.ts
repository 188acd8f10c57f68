import { type Kysely, sql } from 'kysely'
import type { ColumnTypes, Migration } from '../migration.ts'

/** Accounts and groups, repositories, uploads, blobs with their claims, artifacts, files by path, and the journal. */
export const foundation: Migration = {
  number: 1,
  name: 'foundation',
  async up(q, types) {
    await identity(q, types)
    await repositories(q, types)
    await bytes(q, types)
    await catalog(q, types)
    await seed(q)
  },
}

const identity = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('counters')
    .addColumn('name', text, (c) => c.primaryKey())
    .addColumn('value', integer, (c) => c.notNull())
    .execute()
  await q.schema
    .createTable('accounts')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('name_key', text, (c) => c.notNull().unique())
    .addColumn('administrator', integer, (c) => c.notNull())
    .addColumn('enabled', integer, (c) => c.notNull())
    .addColumn('password_hash', text, (c) => c.notNull())
    .addColumn('created_at', text, (c) => c.notNull())
    .execute()
  await q.schema
    .createTable('sessions')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('account_id', text, (c) => c.notNull().references('accounts.id'))
    .addColumn('secret_sha256', text, (c) => c.notNull().unique())
    .addColumn('created_at', text, (c) => c.notNull())
    .addColumn('expires_at', text, (c) => c.notNull())
    .execute()
  await q.schema.createIndex('sessions_by_account').on('sessions').columns(['account_id', 'id']).execute()
  await q.schema.createIndex('sessions_by_end').on('sessions').column('expires_at').execute()
  await q.schema
    .createTable('access_groups')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('name_key', text, (c) => c.notNull().unique())
    .addColumn('created_at', text, (c) => c.notNull())
    .execute()
  await q.schema
    .createTable('group_members')
    .addColumn('group_id', text, (c) => c.notNull().references('access_groups.id'))
    .addColumn('account_id', text, (c) => c.notNull().references('accounts.id'))
    .addPrimaryKeyConstraint('group_members_key', ['group_id', 'account_id'])
    .execute()
  await q.schema.createIndex('group_members_by_account').on('group_members').column('account_id').execute()
  await q.schema
    .createTable('throttles')
    .addColumn('key', text, (c) => c.primaryKey())
    .addColumn('failures', integer, (c) => c.notNull())
    .addColumn('last_failure_at', text, (c) => c.notNull())
    .addColumn('blocked_until', text)
    .execute()
  await q.schema.createIndex('throttles_by_age').on('throttles').column('last_failure_at').execute()
  await q.schema
    .createTable('security_audit')
    .addColumn('sequence', integer, (c) => c.primaryKey())
    .addColumn('occurred_at', text, (c) => c.notNull())
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('action', text, (c) => c.notNull())
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('client_address', text, (c) => c.notNull())
    .execute()
}

const repositories = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('repositories')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('created_at', text, (c) => c.notNull())
    .addColumn('deleted_at', text)
    .addColumn('journal_head', integer, (c) => c.notNull())
    .addColumn('published_bytes', integer, (c) => c.notNull())
    .addColumn('pending_bytes', integer, (c) => c.notNull())
    .addColumn('retired_bytes', integer, (c) => c.notNull())
    .execute()
  await q.schema
    .createTable('group_grants')
    .addColumn('group_id', text, (c) => c.notNull().references('access_groups.id'))
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('access', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('group_grants_key', ['group_id', 'repository'])
    .execute()
  await q.schema.createIndex('group_grants_by_repository').on('group_grants').column('repository').execute()
}

const bytes = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('uploads')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('owner', text, (c) => c.notNull())
    .addColumn('idempotency_key', text)
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('size', integer)
    .addColumn('sha256', text)
    .addColumn('labels', text, (c) => c.notNull())
    .addColumn('metadata', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('created_at', text, (c) => c.notNull())
    .addColumn('expires_at', text, (c) => c.notNull())
    .addColumn('ended_at', text)
    .addColumn('turn_holder', text)
    .addColumn('turn_until', text)
    .execute()
  await q.schema
    .createIndex('uploads_by_idempotency_key')
    .unique()
    .on('uploads')
    .columns(['repository', 'owner', 'idempotency_key'])
    .where(sql.ref('idempotency_key'), 'is not', null)
    .execute()
  await q.schema
    .createIndex('uploads_open')
    .on('uploads')
    .column('expires_at')
    .where(sql.ref('status'), '=', sql.lit('pending'))
    .execute()
  await q.schema
    .createIndex('uploads_ended')
    .on('uploads')
    .column('ended_at')
    .where(sql.ref('ended_at'), 'is not', null)
    .execute()
  await q.schema
    .createIndex('uploads_turns')
    .on('uploads')
    .column('turn_until')
    .where(sql.ref('turn_until'), 'is not', null)
    .execute()
  await q.schema
    .createTable('blobs')
    .addColumn('sha256', text, (c) => c.primaryKey())
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('stored_at', text)
    .execute()
  await q.schema
    .createTable('reclaim_candidates')
    .addColumn('sha256', text, (c) => c.primaryKey())
    .addColumn('since', text, (c) => c.notNull())
    .execute()
  await q.schema
    .createTable('claims')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('holder', text, (c) => c.notNull())
    .addColumn('sha256', text)
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('retired_at', text)
    .execute()
  await q.schema.createIndex('claims_by_digest').on('claims').column('sha256').execute()
  await q.schema.createIndex('claims_by_repository').on('claims').columns(['repository', 'state']).execute()
  await q.schema
    .createIndex('claims_retired')
    .on('claims')
    .column('retired_at')
    .where(sql.ref('retired_at'), 'is not', null)
    .execute()
}

const catalog = async (q: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> => {
  await q.schema
    .createTable('artifacts')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('size', integer, (c) => c.notNull())
    .addColumn('sha256', text, (c) => c.notNull().references('blobs.sha256'))
    .addColumn('labels', text, (c) => c.notNull())
    .addColumn('metadata', text, (c) => c.notNull())
    .addColumn('created_at', text, (c) => c.notNull())
    .addColumn('expires_at', text, (c) => c.notNull())
    .addColumn('published_at', text, (c) => c.notNull())
    .execute()
  await q.schema.createIndex('artifacts_by_repository').on('artifacts').columns(['repository', 'id']).execute()
  await q.schema
    .createTable('assets')
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('path', text, (c) => c.notNull())
    .addColumn('revision', integer, (c) => c.notNull())
    .addColumn('artifact_id', text, (c) => c.notNull().references('artifacts.id'))
    .addPrimaryKeyConstraint('assets_key', ['repository', 'path'])
    .execute()
  await q.schema
    .createTable('asset_revisions')
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('path', text, (c) => c.notNull())
    .addColumn('revision', integer, (c) => c.notNull())
    .addColumn('artifact_id', text, (c) => c.notNull().references('artifacts.id'))
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('created_at', text, (c) => c.notNull())
    .addColumn('source_revision', integer)
    .addPrimaryKeyConstraint('asset_revisions_key', ['repository', 'path', 'revision'])
    .execute()
  await q.schema
    .createTable('journal')
    .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
    .addColumn('sequence', integer, (c) => c.notNull())
    .addColumn('action', text, (c) => c.notNull())
    .addColumn('artifact_id', text, (c) => c.notNull())
    .addColumn('detail', text)
    .addColumn('actor', text, (c) => c.notNull())
    .addColumn('occurred_at', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('journal_key', ['repository', 'sequence'])
    .execute()
}

/** The counters at zero, and the repository `releases`, which exists from the first start. */
const seed = async (q: Kysely<unknown>): Promise<void> => {
  const counters = ['reserved_bytes', 'accounts', 'groups', 'memberships', 'grants', 'security_audit']
  for (const name of counters) await sql`insert into counters (name, value) values (${name}, 0)`.execute(q)
  const now = new Date().toISOString()
  await sql`
    insert into repositories (id, created_at, journal_head, published_bytes, pending_bytes, retired_bytes)
    values ('releases', ${now}, 0, 0, 0, 0)
  `.execute(q)
}
