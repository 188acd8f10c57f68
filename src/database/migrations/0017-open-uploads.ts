import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Looks at uploads that are under way, of one caller and of all, and at what they reserve and did not write yet. */
export const openUploads: Migration = {
  number: 17,
  name: 'open-uploads',
  async up(q, { integer }) {
    await q.schema
      .alterTable('assemblies')
      .addColumn('stored_bytes', integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await q.schema
      .createIndex('uploads_open_of_owner')
      .on('uploads')
      .columns(['owner', 'id'])
      .where(sql.ref('status'), '=', sql.lit('pending'))
      .execute()
    await q.schema
      .createIndex('uploads_open_by_id')
      .on('uploads')
      .column('id')
      .where(sql.ref('status'), '=', sql.lit('pending'))
      .execute()
    await q.schema
      .createIndex('uploads_cancelled_of_owner')
      .on('uploads')
      .columns(['owner', 'ended_at'])
      .where(sql.ref('status'), '=', sql.lit('cancelled'))
      .execute()
    await q.schema
      .createIndex('claims_pending')
      .on('claims')
      .columns(['id', 'size'])
      .where(sql.ref('state'), '=', sql.lit('pending'))
      .execute()
  },
}
