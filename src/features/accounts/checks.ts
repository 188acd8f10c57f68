import type { Queries } from '../../database/database.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { countsAndCounters } from './accounts.queries.ts'

/** Proves that the counters behind the limits of accounts, groups, memberships, grants and service accounts are what they count. */
export async function* checkAccounts(q: Queries): AsyncGenerator<Finding> {
  for (const { name, counted, actual } of await countsAndCounters(q))
    if (counted !== actual) yield damage(`the counter of ${name} says ${counted}; there are ${actual}`)
}
