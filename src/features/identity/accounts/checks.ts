import { recount, totalOf } from '../../../database/counters.queries.ts'
import type { Database } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { countedTables, countOf } from './accounts.queries.ts'

/**
 * Proves that the counters behind the limits of accounts, groups, memberships, grants and service accounts are what
 * they count.
 */
export async function* checkAccounts(database: Database): AsyncGenerator<Finding> {
  for (const [name, table] of countedTables) {
    const [counted, actual] = [await totalOf(database.reader, name), await countOf(database.reader, table)]
    if (counted !== actual)
      yield damage(`the counter of ${name} says ${counted}; there are ${actual}`, () =>
        database.transaction((tx) => recount(tx, name, () => countOf(tx, table))),
      )
  }
}
