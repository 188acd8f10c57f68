import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * The full-text table of SQLite merges when it is asked to (`features/catalog/search/sqlite.queries.ts`), not by
 * itself.
 */
export const searchIndexMerges: Migration = {
  number: 15,
  name: 'search-index-merges',
  async up(q, { engine }) {
    if (engine === 'sqlite') await sql`insert into search_index (search_index, rank) values ('automerge', 0)`.execute(q)
  },
}
