import type { Database } from '../../../database/database.ts'
import { appendSecurityAudit, changeAuthority, unasked } from '../../../journal/security-audit/security-audit.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { revokeEverything } from './revoking.queries.ts'

/**
 * Ends whatever gave somebody access by a secret that the database knows: what was revoked after the moment of a point
 * would otherwise be good again. Passwords stay, since nobody could sign in without.
 */
export const revokeAll = ({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}): Promise<void> => {
  const operator = unasked({ actor: 'operator', clientAddress: 'command line' })
  return changeAuthority(database, operator, async (tx) => {
    const occurredAt = timestamp(clock.now())
    await revokeEverything(tx, occurredAt)
    await appendSecurityAudit(tx, operator, { action: 'access.revoke-all', subject: 'restore', occurredAt })
  })
}
