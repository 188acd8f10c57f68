import type { Transaction } from '../database/database.ts'
import { type Parameters, prepareQuery } from '../database/prepared.ts'
import type { JournalAction } from '../kernel/journal-actions.ts'

export interface JournalEntry {
  readonly repository: string
  readonly action: JournalAction
  readonly artifactId: string
  /** A file path or a stage, where the action has one. */
  readonly detail: string | null
  readonly actor: string
  readonly occurredAt: string
  /** For what the promotion journal tells. */
  readonly promotion?: PromotionFacts
}

export interface PromotionFacts {
  readonly mode: 'copy' | 'move' | null
  readonly peerRepository: string | null
  readonly peerArtifactId: string | null
  readonly comment: string | null
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
      comment: p('comment'),
    }),
)
