import type { Transaction } from '../database/database.ts'
import { actorOf, type Caller } from '../kernel/caller.ts'
import type { Actor } from './security-audit/security-audit.ts'

/** That somebody was let in, and how to ask again. The gate makes one for each request. */
export abstract class LetIn {
  /**
   * Asks again inside a transaction and keeps the answer true until its end. Throws what a fresh request would be told.
   */
  abstract within(tx: Transaction): Promise<Caller | null>
}

/** Who did it and from where, for the security audit, and how to ask whether it still may. */
export const actorFrom = ({
  caller,
  request,
}: {
  readonly caller: Caller
  readonly request: { readonly admission: object; readonly clientAddress: string }
}): Actor => {
  const { admission, clientAddress } = request
  if (!(admission instanceof LetIn)) throw new Error('a request came in past the gate')
  return { actor: actorOf(caller), clientAddress, stillMay: (tx) => admission.within(tx) }
}
