import { moveCounter } from '../database/counters.queries.ts'
import type { Transaction } from '../database/database.ts'
import { type Doer, insertSecurityAuditRow, type SecurityEntry } from './security-audit.queries.ts'

export type { Doer }

/** Records a change of who may do what, in the transaction of the change (I4). Never holds a secret. */
export const appendSecurityAudit = async (tx: Transaction, doer: Doer, entry: SecurityEntry): Promise<void> => {
  // Taken under the lock of the counter's row: sequence order is commit order.
  const sequence = await moveCounter(tx, 'security_audit', 1)
  await insertSecurityAuditRow(tx, sequence, doer, entry)
}
