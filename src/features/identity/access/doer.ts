import type { RequestFacts } from '../../../contract/handler.ts'
import type { Doer } from '../../../journal/security-audit.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { Admission } from './admission.ts'

/** Who did it and from where, for the security audit, and how to ask whether it still may. */
export const doerOf = ({ caller, request }: { caller: Caller; request: RequestFacts }): Doer => {
  const { admission, clientAddress } = request
  if (!(admission instanceof Admission)) throw new Error('a request came in past the gate')
  return { actor: actorOf(caller), clientAddress, stillMay: (tx) => admission.within(tx) }
}
