import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Small bytes may lie in the database, beside the row of their blob, instead of in the store. */
export const inlineBytes: Migration = {
  number: 29,
  name: 'inline-bytes',
  async up(q, types) {
    await q.schema
      .alterTable('blobs')
      .addColumn('inline', types.integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await q.schema
      .createTable('inline_sums')
      .addColumn('id', types.integer, (c) => c.primaryKey().check(sql`id = 1`))
      .addColumn('files', types.integer, (c) => c.notNull())
      .addColumn('bytes', types.integer, (c) => c.notNull())
      .execute()
    await q.schema
      .createTable('inline_bytes')
      .addColumn('generation', types.text, (c) => c.primaryKey())
      .addColumn('sha256', types.text, (c) => c.notNull())
      .addColumn('bytes', types.bytes, (c) => c.notNull())
      .execute()
    if (types.engine === 'sqlite') return
    // Packages, images and signatures are compressed already.
    await sql`alter table inline_bytes alter column bytes set storage external`.execute(q)
  },
}
