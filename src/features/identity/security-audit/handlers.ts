import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import type { SecurityAuditTable } from '../../../database/tables/security-audit.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { pageOf } from '../../../kernel/page.ts'
import { sequenceAfter } from '../../../kernel/sequence.ts'
import { listSecurityAudit } from './operations.ts'
import { securityAuditAfter } from './security-audit.queries.ts'

const toView = (row: SecurityAuditTable) => ({
  sequence: String(row.sequence),
  occurredAt: row.occurred_at,
  actor: row.actor,
  action: row.action,
  subject: row.subject,
  clientAddress: row.client_address,
})

export const securityAuditHandlers = ({ database }: { database: Database }): BoundOperation[] => [
  handle(listSecurityAudit, async ({ query }) => {
    const rows = await securityAuditAfter(database, sequenceAfter(query.after), pageMax + 1)
    return { status: 200, json: pageOf(rows, pageMax, toView, ({ sequence }) => String(sequence)) }
  }),
]
