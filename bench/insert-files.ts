import { moveRepositoryBytes } from '../src/content/claims/claims.queries.ts'
import { moveCounter } from '../src/database/counters.queries.ts'
import type { Transaction } from '../src/database/database.ts'
import { insertRows, type Row } from '../src/database/moving/rows.queries.ts'
import type { TableName } from '../src/database/moving/tables.ts'

/** Rows of files of one repository by their tables, in an order in which every row finds what it refers to. */
export const insertFiles = async (
  tx: Transaction,
  repository: string,
  bytes: number,
  tables: readonly (readonly [TableName, readonly Row[]])[],
): Promise<void> => {
  await moveRepositoryBytes(tx, repository, { published: bytes, pending: 0, retired: 0 })
  await moveCounter(tx, 'reserved_bytes', bytes)
  for (const [table, rows] of tables) await insertRows(tx, table, Object.keys(rows[0] ?? {}), rows)
}
