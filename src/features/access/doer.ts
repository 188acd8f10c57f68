import type { RequestFacts } from '../../contract/handler.ts'
import type { Doer } from '../../journal/security-audit.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'

/** Who did it and from where, for the security audit. */
export const doerOf = ({ caller, request }: { caller: Caller; request: RequestFacts }): Doer => ({
  actor: actorOf(caller),
  clientAddress: request.clientAddress,
})
