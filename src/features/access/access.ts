import type { AccessRule } from '../../contract/operation.ts'
import type { Database } from '../../database/database.ts'
import { type Access, actionsOf, type RepositoryAction } from '../../kernel/actions.ts'
import { type Caller, isRecoveryKey } from '../../kernel/caller.ts'
import type { Clock } from '../../kernel/clock.ts'
import { Failure, notFound } from '../../kernel/failure.ts'
import { isRepositoryId } from '../../kernel/names.ts'
import { secretDigest } from '../accounts/secrets.ts'
import { callerOfSession, sessionPrefix } from '../accounts/sessions.ts'
import { accountAccess, accountGrants } from '../groups/groups.ts'
import { repositoriesAmong, repositoryExists } from '../repositories/repositories.ts'
import type { FindFileKey } from './file-keys.ts'

/** Who is calling, and what may they do. Everything is read anew on each request: a change holds at the next one. */
export interface AccessParts {
  readonly database: Database
  readonly clock: Clock
  readonly findFileKey: FindFileKey
}

/** The caller of a credential. Throws the 401 that fits. */
export const authenticate = async (parts: AccessParts, credential: string): Promise<Caller> => {
  if (credential.startsWith(sessionPrefix)) return callerOfSession(parts.database.reader, credential, parts.clock.now())
  const key = parts.findFileKey(secretDigest(credential))
  if (key === null) throw new Failure('credential_invalid', 'This credential is not known here.')
  return key
}

const none: ReadonlySet<RepositoryAction> = new Set()

/**
 * What the caller may do in a repository. Empty for one that does not exist and for one that the caller may not see:
 * from here on the two cannot be told apart (I8).
 */
export const heldActions = async (
  { database }: Pick<AccessParts, 'database'>,
  caller: Caller,
  repository: string,
): Promise<ReadonlySet<RepositoryAction>> => {
  // It comes from the path as it was sent; what cannot be an id never gets to the database.
  if (!isRepositoryId(repository)) return none
  if (caller.kind === 'account') return actionsOf(await accountAccess(database.reader, caller.id, repository))
  const access = caller.repositories.get(repository)
  if (access === undefined || !(await repositoryExists(database.reader, repository))) return none
  return actionsOf(access)
}

/** The repositories that the caller has access to, after an id and ordered by id. */
export const grantsOf = async (
  { database }: Pick<AccessParts, 'database'>,
  caller: Caller,
  after: string,
  limit: number,
): Promise<{ repository: string; access: Access }[]> => {
  if (caller.kind === 'account') return accountGrants(database.reader, caller.id, after, limit)
  const mine = [...caller.repositories.keys()].filter((repository) => repository > after)
  const existing = await repositoriesAmong(database.reader, mine, limit)
  return existing.map((repository) => ({ repository, access: caller.repositories.get(repository) ?? 'read' }))
}

const missing = (what: string): Failure => new Failure('permission_missing', `This needs ${what}.`)

/**
 * The one decision: why may this caller not do what the rule protects? Null if it may. `held` is what the caller may do
 * in the repository at hand, empty where there is none. A refusal is 401 without a caller, 404 for a repository that the
 * caller may not see, 403 for anything else that is missing.
 */
export const refusal = (
  caller: Caller | null,
  rule: AccessRule,
  held: ReadonlySet<RepositoryAction>,
): Failure | null => {
  if (rule.kind === 'anyone') return null
  if (caller === null)
    return new Failure('credential_missing', 'Send a credential in the header Authorization: Bearer <credential>.')
  switch (rule.kind) {
    case 'credential':
    case 'visible-repositories':
      return null
    case 'session':
      return caller.credential === 'session' ? null : missing('a signed-in session')
    case 'administrator':
      return caller.administrator ? null : missing('an administrator')
    case 'recovery':
      return isRecoveryKey(caller) ? null : missing('the recovery key')
    case 'repository':
      return repositoryRefusal(rule.actions, held)
    case 'administration':
      return caller.kind === 'file-key' && caller.serviceAdministrator ? null : missing(`the action ${rule.action}`)
    case 'system':
      return caller.administrator ? null : missing(`the action ${rule.action}`)
    default:
      return rule satisfies never
  }
}

const repositoryRefusal = (
  actions: readonly RepositoryAction[],
  held: ReadonlySet<RepositoryAction>,
): Failure | null => {
  if (held.size === 0) return notFound('repository')
  // Reading the card is seeing the repository: who may not is told what a stranger is told.
  if (actions.includes('repository.read') && !held.has('repository.read')) return notFound('repository')
  const lacking = actions.filter((action) => !held.has(action))
  return lacking.length === 0 ? null : missing(`${lacking.join(', ')} on this repository`)
}

/** Lets the caller pass or throws the refusal. `repository` is the one that the path names. */
export const authorize = async (
  parts: Pick<AccessParts, 'database'>,
  caller: Caller | null,
  rule: AccessRule,
  repository: string | null,
): Promise<void> => {
  const asked = rule.kind === 'repository' && caller !== null && repository !== null
  const refused = refusal(caller, rule, asked ? await heldActions(parts, caller, repository) : none)
  if (refused !== null) throw refused
}
