import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Whether the parts of an upload were seen to have the digest that was declared: only then may they be gone and the
 * upload be published all the same. Of those that are there nobody knows, and where they are gone they are sent again.
 */
export const verifiedAssemblies: Migration = {
  number: 23,
  name: 'verified-assemblies',
  async up(q, { engine, integer }) {
    await q.schema
      .alterTable('assemblies')
      .addColumn('verified', integer, (c) => c.notNull().defaultTo(0))
      .execute()
    // A process of an older program fails from here on, instead of publishing what nobody has verified.
    if (engine === 'postgres') await sql`alter table assemblies alter column verified drop default`.execute(q)
  },
}
