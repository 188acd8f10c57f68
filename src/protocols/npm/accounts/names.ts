import type { Queries } from '../../../database/database.ts'
import { accountAccess } from '../../../features/identity/groups/groups.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { notFound } from '../../../kernel/failure.ts'
import { caseless } from '../../../kernel/names.ts'
import { accountCalled, accountSince, nameOfServiceAccount } from './names.queries.ts'

/** What a caller is called where names are shown; a key of a service account is called as that is. */
export const nameOf = async (q: Queries, caller: Caller): Promise<string> => {
  if (caller.kind === 'account') return caller.name
  if (caller.kind === 'service-key') return (await nameOfServiceAccount(q, caller.id)) ?? caller.id
  return caller.id
}

/** A person who may read the repository, by name without regard to case. 404 for everybody else. */
export const readerCalled = async (
  q: Queries,
  repository: string,
  name: string,
): Promise<{ readonly name: string }> => {
  const found = await accountCalled(q, caseless(name))
  if (found === undefined || (await accountAccess(q, found.id, repository)) === null) throw notFound('account')
  return found
}

/** A caller as `npm profile` shows it. */
export const profileOf = async (q: Queries, caller: Caller) => {
  const created = caller.kind === 'account' ? await accountSince(q, caller.id) : undefined
  const known = { name: await nameOf(q, caller), email: '', email_verified: false, tfa: false, fullname: '' }
  return { ...known, cidr_whitelist: null, ...(created === undefined ? {} : { created, updated: created }) }
}
