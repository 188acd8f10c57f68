import type { Queries } from '../../../database/database.ts'
import { linesInTime } from '../../../journal/callers.ts'
import { withAllNames } from '../../../journal/names.ts'
import type { Telling } from '../../../journal/telling.ts'
import { auditLinesLookedAt, pageMax } from '../../../kernel/limits/catalog.ts'
import { cursorAt } from '../../../kernel/order.ts'
import { pageOf } from '../../../kernel/page.ts'
import type { Stretch } from '../../../kernel/sequence.ts'
import { type ChangesWanted, endOfLook, securityAuditRows } from './security-audit.queries.ts'
import { toAuthorityChange } from './views.ts'

/** What a request asks for. */
export const wantedOf = async (
  q: Queries,
  {
    actor,
    action,
    subject,
    from,
    to,
  }: {
    readonly actor?: string
    readonly action?: string
    readonly subject?: string
    readonly from?: string
    readonly to?: string
  },
): Promise<ChangesWanted> => ({
  ...(await linesInTime(q, { actor, from, to })),
  action: action ?? null,
  subject: subject ?? null,
})

const isAnything = ({ actors, action, subject, from, to }: ChangesWanted): boolean =>
  [actors, action, subject, from, to].every((filter) => filter === null)

/**
 * Who changed what others may do: a page of the lines of a stretch that are wanted. It looks at so many lines, however
 * few of them it shows, and `next` goes on behind those.
 */
export const authorityChanges = async (database: Telling, stretch: Stretch, wanted: ChangesWanted) => {
  const bounds = { lines: isAnything(wanted) ? pageMax + 1 : auditLinesLookedAt, limit: pageMax + 1 }
  const rows = await securityAuditRows(database, stretch, wanted, bounds)
  const { items, next } = pageOf(rows, pageMax, toAuthorityChange, ({ sequence }) =>
    cursorAt(stretch.order, String(sequence)),
  )
  const named = await withAllNames(database.reader, items)
  if (next !== null || isAnything(wanted)) return { items: named, next }
  const { count, last } = await endOfLook(database.reader, stretch, bounds.lines)
  return { items: named, next: count < bounds.lines ? null : cursorAt(stretch.order, String(last)) }
}
