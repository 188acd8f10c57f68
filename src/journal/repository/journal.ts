import type { Transaction } from '../../database/database.ts'
import { announce } from '../../database/scope.ts'
import {
  insertJournalRow,
  insertJournalRows,
  type JournalEntry,
  nextSequence,
  type PromotionFacts,
} from './journal.queries.ts'

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

/** A line of several that say the same of different things. */
export type OneOfMany = Pick<JournalEntry, 'artifactId' | 'detail'>

/** Lines that go into one statement. */
const linesAtOnce = 500

/** Appends lines one behind the other, as {@link appendJournal} does each. */
export const appendJournalOfMany = async (
  tx: Transaction,
  { repository, action, actor, occurredAt }: Omit<JournalEntry, keyof OneOfMany | 'promotion'>,
  many: readonly OneOfMany[],
): Promise<void> => {
  if (many.length === 0) return
  const first = (await nextSequence(tx, repository, many.length)) - many.length + 1
  const rows = many.map(({ artifactId, detail }, at) => ({
    ...{ repository, sequence: first + at, action, artifact_id: artifactId, detail, actor, occurred_at: occurredAt },
    ...{ mode: null, peer_repository: null, peer_artifact_id: null, peer_image: null, comment: null },
  }))
  for (let at = 0; at < rows.length; at += linesAtOnce) await insertJournalRows(tx, rows.slice(at, at + linesAtOnce))
  announce(tx, topicOf(repository))
}

/** What a transaction announces when it adds to the journal of a repository. */
export const topicOf = (repository: string): string => `journal:${repository}`
