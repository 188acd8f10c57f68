import type { Queries } from '../../database/database.ts'
import { namesOf } from '../../journal/names.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'

/** What a caller is called where clients show it: a service key by its account. */
export const calledName = async (q: Queries, caller: Caller): Promise<string> => {
  if (caller.kind === 'account') return caller.name
  const actor = actorOf(caller)
  return (await namesOf(q, [actor]))(actor) ?? actor
}
