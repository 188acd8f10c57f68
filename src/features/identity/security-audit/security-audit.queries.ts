import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import type { SecurityAuditTable } from '../../../database/tables/security-audit.ts'
import type { LinesInTime } from '../../../journal/callers.ts'
import { type Telling, tellable } from '../../../journal/telling.ts'
import type { Stretch } from '../../../kernel/sequence.ts'

/** Which lines are wanted; what is null is not asked for. */
export interface ChangesWanted extends LinesInTime {
  readonly action: string | null
  /** One of those that a line is about. */
  readonly subject: string | null
}

const looked = (q: Queries, { order, above, below }: Stretch, lines: number) =>
  q
    .selectFrom('security_audit')
    .selectAll()
    .where('sequence', '>', above)
    .where('sequence', '<', below)
    .orderBy('sequence', order)
    .limit(lines)

export const securityAuditRows = (
  database: Telling,
  stretch: Stretch,
  { actors, action, subject, from, to }: ChangesWanted,
  { lines, limit }: { readonly lines: number; readonly limit: number },
): Promise<SecurityAuditTable[]> =>
  tellable(database, (q) => {
    let query = q.selectFrom(looked(q, stretch, lines).as('line')).selectAll()
    if (actors !== null) query = query.where('actor', 'in', actors)
    if (action !== null) query = query.where('action', '=', action)
    if (subject !== null)
      query = query.where(
        sql<boolean>`(' ' || subject || ' ') like ${`% ${subject.replaceAll(/[\\%_]/g, '\\$&')} %`} escape '\\'`,
      )
    if (from !== null) query = query.where('occurred_at', '>=', from)
    if (to !== null) query = query.where('occurred_at', '<', to)
    return query.orderBy('sequence', stretch.order).limit(limit).execute()
  })

/** How many lines one look reads, and the last of them. */
export const endOfLook = async (q: Queries, stretch: Stretch, lines: number) => {
  const row = await q
    .selectFrom(looked(q, stretch, lines).as('line'))
    .select((eb) => [
      eb.fn.countAll().as('count'),
      eb.fn.max('sequence').as('highest'),
      eb.fn.min('sequence').as('lowest'),
    ])
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), last: Number(stretch.order === 'asc' ? row.highest : row.lowest) }
}
