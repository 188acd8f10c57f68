import type { Transaction } from '../database/database.ts'
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

export const nextSequence = async (tx: Transaction, repository: string): Promise<number> => {
  const row = await tx
    .updateTable('repositories')
    .set((eb) => ({ journal_head: eb('journal_head', '+', 1) }))
    .where('id', '=', repository)
    .returning('journal_head')
    .executeTakeFirstOrThrow()
  return row.journal_head
}

export const insertJournalRow = async (tx: Transaction, entry: JournalEntry, sequence: number): Promise<void> => {
  await tx
    .insertInto('journal')
    .values({
      repository: entry.repository,
      sequence,
      action: entry.action,
      artifact_id: entry.artifactId,
      detail: entry.detail,
      actor: entry.actor,
      occurred_at: entry.occurredAt,
    })
    .execute()
}
