import type { Database } from '../../../database/database.ts'
import { goOnBeyondWhatWasTold } from '../../../journal/repository/gaps.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { endLeases, findEveryPoint } from './beginning-anew.queries.ts'

/**
 * What a history that begins anew has to know of the one that it takes the place of: no event bears the id of one that
 * was told, nobody holds anything, since those who did were processes of then, and no point of the vault goes by a plan
 * of then. May be done again.
 */
export const beginAnew = ({ database, clock }: { readonly database: Database; readonly clock: Clock }): Promise<void> =>
  database.transaction(async (tx) => {
    await goOnBeyondWhatWasTold(tx, clock.now())
    await endLeases(tx)
    await findEveryPoint(tx, timestamp(clock.now()))
  })
