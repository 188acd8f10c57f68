import type { Transaction } from '../../database/database.ts'
import { announce } from '../../database/scope.ts'
import { insertJournalRow, type JournalEntry, nextSequence, type PromotionFacts } from './journal.queries.ts'

const noPromotion: PromotionFacts = {
  mode: null,
  peerRepository: null,
  peerArtifactId: null,
  peerImage: null,
  comment: null,
}

/**
 * Appends to the journal in the caller's transaction (I4). The sequence is taken under the lock of the repository's
 * row, which is held until the commit: sequence order is commit order, and a reader can miss nothing.
 */
export const appendJournal = async (tx: Transaction, entry: JournalEntry): Promise<void> => {
  const sequence = await nextSequence(tx, entry.repository)
  const { promotion, ...rest } = entry
  await insertJournalRow(tx, { ...rest, ...noPromotion, ...promotion, sequence })
  announce(tx, topicOf(entry.repository))
}

/** What a transaction announces when it adds to the journal of a repository. */
export const topicOf = (repository: string): string => `journal:${repository}`
