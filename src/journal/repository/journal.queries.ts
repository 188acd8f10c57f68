import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { JournalTable } from '../../database/tables/journal.ts'
import type { JournalAction } from '../../kernel/journal-actions.ts'
import type { Order } from '../../kernel/order.ts'
import type { Stretch } from '../../kernel/sequence.ts'
import { beyond } from '../since-base.queries.ts'
import { type Telling, tellable } from '../telling.ts'

export interface JournalEntry {
  readonly repository: string
  readonly action: JournalAction
  readonly artifactId: string
  /** A file path, a stage or an image, where the action has one. */
  readonly detail: string | null
  readonly actor: string
  readonly occurredAt: string
  /** For what the promotion journal tells. */
  readonly promotion?: Partial<PromotionFacts>
}

export interface PromotionFacts {
  readonly mode: 'copy' | 'move' | null
  readonly peerRepository: string | null
  readonly peerArtifactId: string | null
  /** What the other end is called, where it is an image. */
  readonly peerImage: string | null
  readonly comment: string | null
}

const advance = prepareQuery((q, p: Parameters<{ repository: string; by: number }>) =>
  q
    .updateTable('repositories')
    .set((eb) => ({ journal_head: eb('journal_head', '+', p('by')) }))
    .where('id', '=', p('repository'))
    .returning('journal_head'),
)

/** The next sequences, so many of them: the last one. */
export const nextSequence = async (tx: Transaction, repository: string, by = 1): Promise<number> => {
  const [row] = await advance(tx, { repository, by })
  if (row === undefined) throw new Error(`there is no repository ${repository} to keep a journal`)
  return row.journal_head
}

export const insertJournalRows = async (tx: Transaction, rows: readonly JournalTable[]): Promise<void> => {
  await tx.insertInto('journal').values(rows).execute()
}

export const insertJournalRow = prepareQuery(
  (q, p: Parameters<Omit<JournalEntry, 'promotion'> & PromotionFacts & { sequence: number }>) =>
    q.insertInto('journal').values({
      repository: p('repository'),
      sequence: p('sequence'),
      action: p('action'),
      artifact_id: p('artifactId'),
      detail: p('detail'),
      actor: p('actor'),
      occurred_at: p('occurredAt'),
      mode: p('mode'),
      peer_repository: p('peerRepository'),
      peer_artifact_id: p('peerArtifactId'),
      peer_image: p('peerImage'),
      comment: p('comment'),
    }),
)

const rowsIn = (order: Order) =>
  prepareQuery((q, p: Parameters<{ repository: string; above: number; below: number; limit: number }>) =>
    q
      .selectFrom('journal')
      .selectAll()
      .where('repository', '=', p('repository'))
      .where('sequence', '>', beyond(p('repository'), p('above')))
      .where('sequence', '<', p('below'))
      .orderBy('sequence', order)
      .limit(p('limit')),
  )

const rowsBetween = { asc: rowsIn('asc'), desc: rowsIn('desc') }

/** Lines of a repository's journal in a stretch of it, in its order. */
export const journalRows = (
  database: Telling,
  repository: string,
  { order, above, below }: Stretch,
  limit: number,
): Promise<JournalTable[]> => tellable(database, (q) => rowsBetween[order](q, { repository, above, below, limit }))

const headAndRowsAfter = prepareQuery((q, p: Parameters<{ repository: string; after: number; limit: number }>) =>
  q
    .selectFrom('repositories')
    .leftJoin(
      q
        .selectFrom('journal')
        .select(['sequence', 'action', 'artifact_id', 'detail'])
        .where('repository', '=', p('repository'))
        .where('sequence', '>', beyond(p('repository'), p('after')))
        .orderBy('sequence')
        .limit(p('limit'))
        .as('line'),
      (join) => join.onTrue(),
    )
    .select(['journal_head', 'line.sequence', 'line.action', 'line.artifact_id', 'line.detail'])
    .where('id', '=', p('repository'))
    .where('deleted_at', 'is', null),
)

/**
 * The same together with the head of the journal, of one moment; a row without a sequence where there are none, and
 * nothing where there is no repository. In any order.
 */
export const journalHeadAndRowsAfter = (database: Telling, repository: string, after: number, limit: number) =>
  tellable(database, (q) => headAndRowsAfter(q, { repository, after, limit }))

/** The last sequence of each of these journals. */
export const journalHeads = async (q: Queries, repositories: readonly string[]): Promise<Map<string, number>> => {
  // To the next power of two, so that there are few texts of this query to be remembered by the engines.
  const padded = [...repositories]
  while ((padded.length & (padded.length - 1)) !== 0) padded.push(...repositories.slice(0, 1))
  if (padded.length === 0) return new Map()
  const rows = await q.selectFrom('repositories').select(['id', 'journal_head']).where('id', 'in', padded).execute()
  return new Map(rows.map(({ id, journal_head }) => [id, journal_head]))
}
