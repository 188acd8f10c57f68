import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface DatabaseSize {
  readonly bytes: number
  /** Of these, what rows that went have left, and rows that come take; null where the engine does not say at once. */
  readonly freeBytes: number | null
}

/** What the database takes on its disk, without the log of a file. */
export const databaseSize = async ({ engine, reader }: Pick<Database, 'engine' | 'reader'>): Promise<DatabaseSize> => {
  const asked =
    engine === 'sqlite'
      ? sql<DatabaseSize>`select page_count * page_size as bytes, freelist_count * page_size as "freeBytes"
          from pragma_page_count, pragma_page_size, pragma_freelist_count`
      : sql<DatabaseSize>`select pg_database_size(current_database()) as bytes, null as "freeBytes"`
  const [row] = (await asked.execute(reader)).rows
  if (row === undefined) throw new Error('the database does not say how large it is')
  return row
}
