import type { Database, Queries } from '../../../database/database.ts'
import type { JournalTable } from '../../../database/tables/journal.ts'
import { journalRows } from '../../../journal/repository/journal.queries.ts'
import { endOfLook, type LinesWanted, lineFrom, matchingRows } from '../../../journal/repository/matching.queries.ts'
import { tellable } from '../../../journal/telling.ts'
import { withInnerDetail } from '../../../kernel/journal-actions.ts'
import { auditLinesLookedAt, pageMax } from '../../../kernel/limits/catalog.ts'
import { cursorAt } from '../../../kernel/order.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import type { Stretch } from '../../../kernel/sequence.ts'

/** What was changed in a repository, by whom and when. */
export interface AuditEntry {
  readonly sequence: string
  readonly actor: string
  readonly action: string
  readonly artifactId: string
  /** A path, a stage or an image, for actions that have one. */
  readonly detail: string | null
  readonly occurredAt: string
}

/**
 * The journal with its actors: a page of every line that is kept in a stretch. Sequences have no gaps, so whoever reads
 * on after lines were forgotten sees that by the first one.
 */
export const auditPage = async (
  database: Database,
  repository: string,
  stretch: Stretch,
): Promise<Page<AuditEntry>> => {
  const rows = await journalRows(database, repository, stretch, pageMax + 1)
  return pageOf(rows, pageMax, toEntry, ({ sequence }) => cursorAt(stretch.order, String(sequence)))
}

const toEntry = (row: JournalTable): AuditEntry => ({
  sequence: String(row.sequence),
  actor: row.actor,
  action: row.action,
  artifactId: row.artifact_id,
  detail: withInnerDetail.has(row.action) ? null : row.detail,
  occurredAt: row.occurred_at,
})

/**
 * The lines of a stretch that are wanted. A page looks at so many lines, however few of them it shows, and `next` goes
 * on behind those: an index for each filter would cost every change more than it saves those who look for something.
 */
export const wantedAuditPage = async (
  database: Database,
  repository: string,
  stretch: Stretch,
  wanted: LinesWanted,
): Promise<Page<AuditEntry>> =>
  tellable(database, async (q) => {
    const within = await narrowed(q, repository, stretch, wanted)
    const bounds = { lines: auditLinesLookedAt, limit: pageMax + 1 }
    const rows = await matchingRows(q, repository, within, wanted, bounds)
    const page = pageOf(rows, pageMax, toEntry, ({ sequence }) => cursorAt(stretch.order, String(sequence)))
    if (page.next !== null) return page
    const { count, last } = await endOfLook(q, repository, within, auditLinesLookedAt)
    return { ...page, next: count < auditLinesLookedAt ? null : cursorAt(stretch.order, String(last)) }
  })

/** Clocks of several processes differ by less. */
const clockSlackMs = 60_000

/**
 * Lines are in the order of their times, as far as clocks agree: what is outside of the times need not be looked at.
 */
const narrowed = async (
  q: Queries,
  repository: string,
  stretch: Stretch,
  { from, to }: LinesWanted,
): Promise<Stretch> => {
  const near = (time: string, byMs: number): Promise<number> =>
    firstAt(q, repository, new Date(Date.parse(time) + byMs).toISOString())
  const [above, below] = await Promise.all([
    from === null ? stretch.above : near(from, -clockSlackMs).then((first) => first - 1),
    to === null ? stretch.below : near(to, clockSlackMs),
  ])
  return { ...stretch, above: Math.max(stretch.above, above), below: Math.min(stretch.below, below) }
}

/** The first line of a time or later, found by halves; beyond all lines where there is none. */
const firstAt = async (q: Queries, repository: string, time: string): Promise<number> => {
  let [low, high] = [0, 1]
  while ((await lineFrom(q, repository, high)) !== undefined) high *= 2
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const line = await lineFrom(q, repository, middle)
    if (line === undefined || line.occurred_at >= time) high = middle
    else low = line.sequence + 1
  }
  return low
}
