import type { SecurityAuditTable } from '../../../database/tables/security-audit.ts'

export const toAuthorityChange = (row: SecurityAuditTable) => ({
  sequence: String(row.sequence),
  occurredAt: row.occurred_at,
  actor: row.actor,
  action: row.action,
  subject: row.subject,
  subjectName: row.subject_name,
  clientAddress: row.client_address,
})
