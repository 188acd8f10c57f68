import type { Transaction } from '../../database/database.ts'
import { announce } from '../../database/scope.ts'
import { inPieces } from '../../kernel/pieces.ts'
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
export type OneOfMany = Pick<JournalEntry, 'artifactId' | 'detail' | 'promotion'>

/** Lines that go into one statement. */
const linesAtOnce = 500

/** Appends lines one behind the other, as {@link appendJournal} does each. */
export const appendJournalOfMany = async (
  tx: Transaction,
  { repository, action, actor, occurredAt }: Omit<JournalEntry, keyof OneOfMany>,
  many: readonly OneOfMany[],
): Promise<void> => {
  if (many.length === 0) return
  const first = (await nextSequence(tx, repository, many.length)) - many.length + 1
  const rows = many.map(({ artifactId, detail, promotion }, at) => {
    const { mode, peerRepository, peerArtifactId, peerImage, comment } = { ...noPromotion, ...promotion }
    return {
      ...{ repository, sequence: first + at, action, artifact_id: artifactId, detail, actor, occurred_at: occurredAt },
      ...{ mode, peer_repository: peerRepository, peer_artifact_id: peerArtifactId, peer_image: peerImage, comment },
    }
  })
  for (const some of inPieces(rows, linesAtOnce)) await insertJournalRows(tx, some)
  announce(tx, topicOf(repository))
}

/** What a transaction announces when it adds to the journal of a repository. */
export const topicOf = (repository: string): string => `journal:${repository}`
