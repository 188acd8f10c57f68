import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Each blob gets a generation, which is part of the name of its bytes; those that are there keep the empty one, and
 * their bytes their names. Removing bytes becomes a row of its own, so that nobody waits for it: what was marked
 * becomes one.
 */
export const removals: Migration = {
  number: 19,
  name: 'removals',
  async up(q, { engine, text, integer }) {
    await q.schema
      .alterTable('blobs')
      .addColumn('generation', text, (c) => c.notNull().defaultTo(''))
      .execute()
    // A process of an older program that still runs fails from here on, instead of giving a new blob an old one's name.
    // With SQLite none still runs: the first process to open the database finds out (`sqlite/opening.ts`).
    if (engine === 'postgres') await sql`alter table blobs alter column generation drop default`.execute(q)
    await q.schema
      .createTable('removals')
      .addColumn('name', text, (c) => c.primaryKey())
      .addColumn('size', integer, (c) => c.notNull())
      .addColumn('begun_at', text, (c) => c.notNull())
      .addColumn('tries', integer, (c) => c.notNull())
      .addColumn('due_at', text, (c) => c.notNull())
      .execute()
    await q.schema.createIndex('removals_by_due').on('removals').columns(['due_at', 'name']).execute()
    await q.schema.createIndex('removals_by_begin').on('removals').column('begun_at').execute()
    await q.schema
      .createTable('removal_notes')
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('artifact_id', text, (c) => c.notNull())
      .addPrimaryKeyConstraint('removal_notes_key', ['name', 'repository', 'artifact_id'])
      .execute()
    const now = new Date().toISOString()
    await sql`insert into removals (name, size, begun_at, tries, due_at)
      select sha256, size, ${now}, 0, ${now} from blobs where state = 'reclaiming'`.execute(q)
    await sql`insert into removal_notes (name, repository, artifact_id)
      select sha256, repository, artifact_id from reclaim_notes
      where sha256 in (select name from removals)`.execute(q)
    await sql`delete from reclaim_notes where sha256 in (select name from removals)`.execute(q)
    await sql`delete from reclaim_candidates where sha256 in (select name from removals)`.execute(q)
    await sql`delete from blobs where state = 'reclaiming'`.execute(q)
  },
}
