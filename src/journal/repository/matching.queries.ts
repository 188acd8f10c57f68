import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'
import type { JournalTable } from '../../database/tables/journal.ts'
import type { JournalAction } from '../../kernel/journal-actions.ts'
import type { Stretch } from '../../kernel/sequence.ts'
import type { LinesInTime } from '../callers.ts'
import { beyond } from '../since-base.queries.ts'

/** Which lines are wanted; what is null is not asked for. */
export interface LinesWanted extends LinesInTime {
  readonly action: JournalAction | null
  /** The id of a file, or what `detail` says, a path, a stage or an image, for who is told that. */
  readonly subject: { readonly called: string; readonly lists: boolean } | null
}

/** The first so many lines of a stretch; every look at them below is bounded by that. */
const looked = (q: Queries, repository: string, { order, above, below }: Stretch, lines: number) =>
  q
    .selectFrom('journal')
    .selectAll()
    .where('repository', '=', repository)
    .where('sequence', '>', beyond(sql.val(repository), sql.val(above)))
    .where('sequence', '<', below)
    .orderBy('sequence', order)
    .limit(lines)

/** Those of them that are wanted. */
export const matchingRows = (
  q: Queries,
  repository: string,
  stretch: Stretch,
  { actors, action, subject, from, to }: LinesWanted,
  { lines, limit }: { readonly lines: number; readonly limit: number },
): Promise<JournalTable[]> => {
  let query = q.selectFrom(looked(q, repository, stretch, lines).as('line')).selectAll()
  if (actors !== null) query = query.where('actor', 'in', actors)
  if (action !== null) query = query.where('action', '=', action)
  if (subject !== null)
    query = query.where((eb) => {
      const { called, lists } = subject
      return eb.or([eb('artifact_id', '=', called), ...(lists ? [eb('detail', '=', called)] : [])])
    })
  if (from !== null) query = query.where('occurred_at', '>=', from)
  if (to !== null) query = query.where('occurred_at', '<', to)
  return query.orderBy('sequence', stretch.order).limit(limit).execute()
}

/** How many they are, and the last of them. */
export const endOfLook = async (q: Queries, repository: string, stretch: Stretch, lines: number) => {
  const row = await q
    .selectFrom(looked(q, repository, stretch, lines).as('line'))
    .select((eb) => [
      eb.fn.countAll().as('count'),
      eb.fn.max('sequence').as('highest'),
      eb.fn.min('sequence').as('lowest'),
    ])
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), last: Number(stretch.order === 'asc' ? row.highest : row.lowest) }
}

/** The first line from a sequence on, with its time. */
export const lineFrom = (q: Queries, repository: string, sequence: number) =>
  q
    .selectFrom('journal')
    .select(['sequence', 'occurred_at'])
    .where('repository', '=', repository)
    .where('sequence', '>=', sequence)
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst()
