import type { Database } from '../../../database/database.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { revokeEverything } from './revoking.queries.ts'

/**
 * Ends whatever gave somebody access by a secret that the database knows: what was revoked after the moment of a point
 * would otherwise be good again. Passwords stay, since nobody could sign in without.
 */
export const revokeAll = ({ database, clock }: { readonly database: Database; readonly clock: Clock }): Promise<void> =>
  database.transaction((tx) => revokeEverything(tx, timestamp(clock.now())))
