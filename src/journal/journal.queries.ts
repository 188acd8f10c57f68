import type { Queries, Transaction } from '../database/database.ts'
import { type Parameters, prepareQuery } from '../database/prepared.ts'
import type { JournalTable } from '../database/tables/journal.ts'
import type { JournalAction } from '../kernel/journal-actions.ts'

export interface JournalEntry {
  readonly repository: string
  readonly action: JournalAction
  readonly artifactId: string
  /** A file path or a stage, where the action has one. */
  readonly detail: string | null
  readonly actor: string
  readonly occurredAt: string
}

const advance = prepareQuery((q, p: Parameters<{ repository: string }>) =>
  q
    .updateTable('repositories')
    .set((eb) => ({ journal_head: eb('journal_head', '+', 1) }))
    .where('id', '=', p('repository'))
    .returning('journal_head'),
)

export const nextSequence = async (tx: Transaction, repository: string): Promise<number> => {
  const [row] = await advance(tx, { repository })
  if (row === undefined) throw new Error(`there is no repository ${repository} to keep a journal`)
  return row.journal_head
}

export const insertJournalRow = prepareQuery((q, p: Parameters<JournalEntry & { sequence: number }>) =>
  q.insertInto('journal').values({
    repository: p('repository'),
    sequence: p('sequence'),
    action: p('action'),
    artifact_id: p('artifactId'),
    detail: p('detail'),
    actor: p('actor'),
    occurred_at: p('occurredAt'),
  }),
)

const rowsAfter = prepareQuery((q, p: Parameters<{ repository: string; after: number; limit: number }>) =>
  q
    .selectFrom('journal')
    .selectAll()
    .where('repository', '=', p('repository'))
    .where('sequence', '>', p('after'))
    .orderBy('sequence')
    .limit(p('limit')),
)

/** Lines of a repository's journal beyond a sequence, oldest first. */
export const journalRowsAfter = (
  q: Queries,
  repository: string,
  after: number,
  limit: number,
): Promise<JournalTable[]> => rowsAfter(q, { repository, after, limit })
