import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { pageMax } from '../../../kernel/limits.ts'
import { sequenceAfter } from '../../../kernel/sequence.ts'
import { listSecurityAudit } from './operations.ts'
import { securityAuditAfter } from './security-audit.queries.ts'

export const securityAuditHandlers = ({ database }: { database: Database }): BoundOperation[] => [
  handle(listSecurityAudit, async ({ query }) => {
    const rows = await securityAuditAfter(database, sequenceAfter(query.after), pageMax + 1)
    const items = rows.slice(0, pageMax).map((row) => ({
      sequence: String(row.sequence),
      occurredAt: row.occurred_at,
      actor: row.actor,
      action: row.action,
      subject: row.subject,
      clientAddress: row.client_address,
    }))
    return { status: 200, json: { items, next: rows.length > pageMax ? (items.at(-1)?.sequence ?? null) : null } }
  }),
]
