import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'

/** Whether a name has a part, whatever its case; names are plain ASCII. */
export const hasPart = (q: Queries, column: string, part: string) => {
  const at = engineOf(q) === 'sqlite' ? sql.raw('instr') : sql.raw('strpos')
  return sql<boolean>`${at}(lower(${sql.ref(column)}), ${part.toLowerCase()}) > 0`
}
