import type { Transaction } from '../database/database.ts'
import { insertJournalRow, type JournalEntry, nextSequence } from './journal.queries.ts'

/**
 * Appends to the journal in the caller's transaction (I4). The sequence is taken under the lock of the repository's row,
 * which is held until the commit: sequence order is commit order, and a reader can miss nothing.
 */
export const appendJournal = async (tx: Transaction, entry: JournalEntry): Promise<void> => {
  const sequence = await nextSequence(tx, entry.repository)
  await insertJournalRow(tx, { ...entry, sequence })
}
