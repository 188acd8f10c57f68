import type { SecurityAuditTable } from '../../../database/tables/security-audit.ts'
import { type Telling, tellable } from '../../../journal/telling.ts'
import type { Stretch } from '../../../kernel/sequence.ts'

export const securityAuditRows = (
  database: Telling,
  { order, above, below }: Stretch,
  limit: number,
): Promise<SecurityAuditTable[]> =>
  tellable(database, (q) =>
    q
      .selectFrom('security_audit')
      .selectAll()
      .where('sequence', '>', above)
      .where('sequence', '<', below)
      .orderBy('sequence', order)
      .limit(limit)
      .execute(),
  )
