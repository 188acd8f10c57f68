import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * What moving a catalog needs: a name for each database, how far an import is, and holds that keep reclaim from bytes.
 */
export const moving: Migration = {
  number: 14,
  name: 'moving',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('installation')
      .addColumn('id', integer, (c) => c.primaryKey().check(sql`id = 1`))
      .addColumn('identity', text, (c) => c.notNull())
      .addColumn('importing', text)
      .addColumn('imported_through', text, (c) => c.notNull())
      .addColumn('imported_pieces', integer, (c) => c.notNull())
      .execute()
    await sql`insert into installation (id, identity, imported_through, imported_pieces)
      values (1, ${randomUUID()}, '', 0)`.execute(q)
    await q.schema
      .createTable('reclaim_holds')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('purpose', text, (c) => c.notNull())
      .addColumn('ends_at', text, (c) => c.notNull())
      .execute()
  },
}
