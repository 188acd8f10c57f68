import { moveCounter } from '../../database/counters.queries.ts'
import type { Database, Transaction } from '../../database/database.ts'
import type { Caller } from '../../kernel/caller.ts'
import { insertSecurityAuditRow, type NamedActor, type SecurityEntry } from './security-audit.queries.ts'

/** Who changes who may do what, from where, and whether it may by now. */
export interface Actor extends NamedActor {
  /**
   * Asks anew inside the transaction of the change and keeps the answer true until its end, by the locks of the rows
   * that it depends on. Throws what a fresh request would be told. Null for whom nobody has to ask.
   */
  stillMay(tx: Transaction): Promise<Caller | null>
}

/** An actor that no credential stands for: the operator at the command line, whoever registers. */
export const unasked = (actor: NamedActor): Actor => ({ ...actor, stillMay: async () => null })

const asked = new WeakMap<Transaction, Actor>()

/**
 * Runs a change of who may do what. The first thing in its transaction is to ask once more whether the actor may:
 * whoever lost the right while the request was on its way changes nothing, and whoever takes the right away waits for a
 * change that is being made. `work` gets the caller as it is now.
 */
export const changeAuthority = <T>(
  database: Database,
  actor: Actor,
  work: (tx: Transaction, caller: Caller | null) => Promise<T>,
): Promise<T> =>
  database.transaction(async (tx) => {
    const caller = await actor.stillMay(tx)
    asked.set(tx, actor)
    return work(tx, caller)
  })

/**
 * Records a change of who may do what, in the transaction of the change (I4). Never holds a secret. Throws where the
 * actor was not asked in this transaction, so that no such change can forget to.
 */
export const appendSecurityAudit = async (tx: Transaction, actor: Actor, entry: SecurityEntry): Promise<void> => {
  if (asked.get(tx) !== actor) throw new Error(`${entry.action}: a change of authority goes through changeAuthority`)
  // Taken under the lock of the counter's row: sequence order is commit order.
  const sequence = await moveCounter(tx, 'security_audit', 1)
  await insertSecurityAuditRow(tx, sequence, actor, entry)
}
