import type { SecurityAuditTable } from '../../../database/tables/security-audit.ts'
import { type Telling, tellable } from '../../../journal/telling.ts'

export const securityAuditAfter = (database: Telling, after: number, limit: number): Promise<SecurityAuditTable[]> =>
  tellable(database, (q) =>
    q.selectFrom('security_audit').selectAll().where('sequence', '>', after).orderBy('sequence').limit(limit).execute(),
  )
