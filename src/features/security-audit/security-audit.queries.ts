import type { Queries } from '../../database/database.ts'
import type { SecurityAuditTable } from '../../database/tables/security-audit.ts'

export const securityAuditAfter = (q: Queries, after: number, limit: number): Promise<SecurityAuditTable[]> =>
  q.selectFrom('security_audit').selectAll().where('sequence', '>', after).orderBy('sequence').limit(limit).execute()
