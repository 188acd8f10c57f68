import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Bytes that come in parts, and work that is done later. */
export const partsAndJobs: Migration = {
  number: 4,
  name: 'parts-and-jobs',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('assemblies')
      .addColumn('claim_id', text, (c) => c.primaryKey())
      .addColumn('place', text, (c) => c.notNull().unique())
      .addColumn('hashed_parts', integer, (c) => c.notNull())
      .addColumn('hash_state', text)
      .execute()
    await q.schema
      .createTable('assembly_parts')
      .addColumn('claim_id', text, (c) => c.notNull().references('assemblies.claim_id'))
      .addColumn('part_index', integer, (c) => c.notNull())
      .addColumn('sha256', text, (c) => c.notNull())
      .addColumn('receipt', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('assembly_parts_key', ['claim_id', 'part_index'])
      .execute()
    await q.schema
      .createTable('jobs')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('kind', text, (c) => c.notNull())
      .addColumn('subject', text, (c) => c.notNull())
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('owner', text, (c) => c.notNull())
      .addColumn('credential_id', text)
      .addColumn('status', text, (c) => c.notNull())
      .addColumn('generation', integer, (c) => c.notNull())
      .addColumn('attempts', integer, (c) => c.notNull())
      .addColumn('error_code', text)
      .addColumn('lasting', integer, (c) => c.notNull())
      .addColumn('created_at', text, (c) => c.notNull())
      .addColumn('due_at', text)
      .addColumn('holder', text)
      .addColumn('ended_at', text)
      .addUniqueConstraint('jobs_by_subject', ['kind', 'subject'])
      .execute()
    await q.schema
      .createIndex('jobs_due')
      .on('jobs')
      .columns(['kind', 'due_at'])
      .where(sql.ref('due_at'), 'is not', null)
      .execute()
    await q.schema
      .createIndex('jobs_open_by_owner')
      .on('jobs')
      .column('owner')
      .where(sql.ref('ended_at'), 'is', null)
      .execute()
    await q.schema
      .createIndex('jobs_ended')
      .on('jobs')
      .column('ended_at')
      .where(sql.ref('ended_at'), 'is not', null)
      .execute()
    await sql`insert into counters (name, value) values ('open_jobs', 0)`.execute(q)
  },
}
