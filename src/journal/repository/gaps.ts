import type { Transaction } from '../../database/database.ts'
import { journalEnds, putGap } from './gaps.queries.ts'

/*
 * A restore begins a history anew at an older moment. What was told since, to webhooks and to whoever followed the
 * changes, bore sequences that would come again and mean something else: receivers that know events by their ids would
 * drop the first new ones, and followers would pass them over. So every journal goes on beyond all that may have been
 * told: at the time of the restore, in milliseconds since 1970, which no journal reaches by itself that has fewer than
 * a thousand lines a second for all of its life. What is passed over is written down, so that it is no gap in what is
 * kept.
 */

/** Where a journal goes on that stands further than any clock says. */
const aheadOfClock = 1_000_000_000

/** Has all journals go on beyond what may have been told. May be done again. */
export const goOnBeyondWhatWasTold = async (tx: Transaction, nowMs: number): Promise<void> => {
  for (const { id, head, gapBeyond } of await journalEnds(tx))
    await putGap(tx, {
      repository: id,
      beyond: gapBeyond ?? head,
      through: nowMs > head ? nowMs : head + aheadOfClock,
    })
}
