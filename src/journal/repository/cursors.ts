import type { Queries, Transaction } from '../../database/database.ts'
import { advanceCursors, deleteCursor, findCursor, insertCursor, lockEnds, lowestCursor } from './cursors.queries.ts'

/**
 * How far consumers inside the service have come in the journals. Retention forgets no line beyond a cursor, so a
 * consumer may be away for as long as it likes; who drops out for good closes its cursor, or the journal grows for it
 * for ever.
 *
 * A cursor is opened at the head and only moves forward. Lines up to the head were not promised to it, so that opening
 * one and forgetting lines need not exclude each other.
 */
export interface CursorName {
  readonly repository: string
  /** Of the consumer, such as `webhook:builds`. */
  readonly name: string
}

/**
 * The sequence after which a consumer goes on: where it stopped, or the head if it is new, so that it gets what happens
 * from now on; one that waited for its repository begins at the base, with all that happened there. Undefined where
 * there is no repository.
 */
export const openCursor = async (
  tx: Transaction,
  { repository, name }: CursorName,
  now: string,
  from: 'head' | 'base' = 'head',
): Promise<number | undefined> => {
  const ends = await lockEnds(tx, repository)
  if (ends === undefined) return undefined
  const known = await findCursor(tx, repository, name)
  if (known !== undefined) return known.sequence
  const sequence = ends[from]
  await insertCursor(tx, { repository, name, sequence, moved_at: now })
  return sequence
}

export interface CursorMove {
  readonly name: string
  /** The consumer is done with everything up to this. */
  readonly sequence: number
}

/** Moves cursors of one repository. How many did: not those that said so before, and not those that are unknown. */
export const moveCursors = (
  tx: Transaction,
  repository: string,
  moves: readonly CursorMove[],
  now: string,
): Promise<number> => advanceCursors(tx, repository, moves, now)

/** The consumer will not come back. */
export const closeCursor = (tx: Transaction, { repository, name }: CursorName): Promise<void> =>
  deleteCursor(tx, repository, name)

/** Lines beyond this are still needed by somebody; null where nobody needs any. */
export const cursorFloor = (q: Queries, repository: string): Promise<number | null> => lowestCursor(q, repository)
