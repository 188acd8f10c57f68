import { PostgresAdapter } from 'kysely'
import type { Queries } from './database.ts'
import type { Engine } from './migration.ts'

/** Which engine runs these queries, for the few that have no form that both understand. */
export const engineOf = (q: Queries): Engine =>
  q.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
