import type { AccessRule, SecondRepository } from '../../../contract/operation.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { readJob } from '../../../jobs/enqueue.ts'
import {
  type Access,
  actionsOf,
  actionsOfFileKey,
  lookingOnly,
  type RepositoryAction,
} from '../../../kernel/actions.ts'
import {
  type AccountCaller,
  actorOf,
  asksByPass,
  type Caller,
  type CredentialCaller,
  readsOnly,
} from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { isRepositoryId, isUuid } from '../../../kernel/names.ts'
import { idIn, type RepositoryIdentity } from '../../../kernel/repository-identity.ts'
import { repositoriesAmong, repositoryWith } from '../../catalog/repositories/repositories.ts'
import { accountAccess, accountGrants } from '../groups/groups.ts'
import { callerOfLink } from '../links/links.ts'
import type { FindNamedFileKey } from '../passes/names.ts'
import { callerOfPass, passPrefix, type Shown } from '../passes/passes.ts'
import { administrationRefusal } from '../service-accounts/authority.ts'
import { callerOfServiceKey } from '../service-accounts/calling-keys.ts'
import { accountOfKey, servicePrefix } from '../service-accounts/service-keys.ts'
import { secretDigest } from '../sessions/secrets.ts'
import { callerOfSession, sessionPrefix } from '../sessions/sessions.ts'
import { callerOfToken, rememberUse, tokenPrefix } from '../tokens/tokens.ts'
import type { FindFileKey } from './file-keys.ts'

/** Who is calling, and what may they do? Everything is read anew on each request: a change holds at the next one. */
export interface AccessDeps {
  readonly database: Database
  readonly clock: Clock
  readonly findFileKey: FindFileKey
  readonly findNamedFileKey: FindNamedFileKey
  readonly report: (message: string, error: unknown) => void
  /** A read gateway changes nothing, not even when a token was last used. */
  readonly readOnly: boolean
}

/** The caller of a credential, and that it was used. Throws the 401 that fits. */
export const authenticate = (deps: AccessDeps, credential: string, shown: Shown): Promise<Caller> =>
  credential.startsWith(tokenPrefix)
    ? tokenCaller(deps, credential)
    : callerOf(deps.database.reader, deps, credential, shown)

/** What finding a caller takes. */
export type CallerDeps = Pick<AccessDeps, 'clock' | 'findFileKey' | 'findNamedFileKey'>

/** The caller of a credential, as `q` knows it. Throws the 401 that fits. */
export const callerOf = async (
  q: Queries,
  deps: CallerDeps,
  credential: string,
  shown: Shown,
): Promise<CredentialCaller> => {
  const { clock, findFileKey } = deps
  if (credential.startsWith(passPrefix)) return callerOfPass(q, deps, credential, shown)
  if (credential.startsWith(sessionPrefix)) return callerOfSession(q, credential, clock.now())
  if (credential.startsWith(servicePrefix)) return callerOfServiceKey(q, credential, clock.now())
  if (credential.startsWith(tokenPrefix)) return (await callerOfToken(q, credential, clock.now())).caller
  const key = findFileKey(secretDigest(credential))
  if (key === null)
    throw new Failure('credential_invalid', 'This credential is not known here.', {
      forOperator: { why: 'no session, token or service key by its form, and no key of the keys file' },
    })
  return key
}

const tokenCaller = async (deps: AccessDeps, credential: string): Promise<Caller> => {
  const { caller, lastUsedIsOld } = await callerOfToken(deps.database.reader, credential, deps.clock.now())
  if (lastUsedIsOld && !deps.readOnly)
    rememberUse(deps, caller.credentialId).catch((error: unknown) =>
      deps.report('the last use of a token could not be remembered', error),
    )
  return caller
}

/** What a caller may do in one repository. */
export interface Held {
  readonly repository: string
  readonly actions: ReadonlySet<RepositoryAction>
}

const none: ReadonlySet<RepositoryAction> = new Set()
const noAccess: ReadonlySet<Access> = new Set()
const contentOnly: ReadonlySet<RepositoryAction> = new Set(['content.read'])

/** The caller of a download link to what the parameters of the path name. Throws the 401 that fits. */
export const authenticateLink = (
  { database, clock }: Pick<AccessDeps, 'database' | 'clock'>,
  token: string,
  { repository = '', id = '' }: Readonly<Record<string, string>>,
): Promise<Caller> => callerOfLink(database.reader, token, { repository, artifactId: id }, clock.now())

/** Actions of a key in a repository. A key of the keys file goes by the id, as the file does. */
const keyActions = (
  caller: Exclude<Caller, { kind: 'account' }>,
  repository: RepositoryIdentity,
): ReadonlySet<RepositoryAction> => {
  if (caller.kind === 'link') return caller.repository === idIn(repository) ? contentOnly : none
  return caller.kind === 'service-key'
    ? (caller.permissions.get(repository) ?? none)
    : actionsOfFileKey(caller.repositories.get(idIn(repository)) ?? noAccess)
}

/** What a grant gives to a person's credential: a read token holds nothing that changes something. */
const accountActions = (caller: AccountCaller, access: Access | null): ReadonlySet<RepositoryAction> =>
  readsOnly(caller) ? lookingOnly(actionsOf(access)) : actionsOf(access)

/**
 * What the caller may do in a repository. Empty for one that does not exist and for one that the caller may not see:
 * from here on the two cannot be told apart (I8).
 */
export const heldActions = async (
  q: Queries,
  caller: Caller,
  repository: string,
): Promise<ReadonlySet<RepositoryAction>> => {
  if (!isRepositoryId(repository)) return none
  if (caller.kind === 'account') return accountActions(caller, await accountAccess(q, caller.id, repository))
  const found = await repositoryWith(q, repository)
  return found === null ? none : keyActions(caller, found)
}

/**
 * The repositories in which the caller holds an action, after an id and ordered by id; only those in
 * which it holds all that is `needed`.
 */
export const heldRepositories = async (
  { database }: Pick<AccessDeps, 'database'>,
  caller: Caller,
  after: string,
  limit: number,
  needed: readonly RepositoryAction[] = [],
): Promise<Held[]> => {
  if (caller.kind === 'account')
    // Both read and write carry whatever a list asks for.
    return (await accountGrants(database.reader, caller.id, after, limit)).map(({ repository, access }) => ({
      repository,
      actions: accountActions(caller, access),
    }))
  if (caller.kind === 'link') return []
  const named =
    caller.kind === 'service-key' ? [...caller.permissions.keys()].map(idIn) : [...caller.repositories.keys()]
  const ids = [...new Set(named)].filter((id) => id > after)
  // As many as are named: some may be bound to repositories that are gone, and do not count.
  const existing = await repositoriesAmong(database.reader, ids, ids.length)
  return existing
    .map((repository) => ({ repository: idIn(repository), actions: keyActions(caller, repository) }))
    .filter(({ actions }) => actions.size > 0 && needed.every((action) => actions.has(action)))
    .slice(0, limit)
}

const missing = (what: string): Failure => new Failure('permission_missing', `This needs ${what}.`)

/**
 * A pass is good at one wire, and makes no other. Should a door of another kind be opened there, it is not for passes.
 */
const isOpenToPasses = (rule: AccessRule): boolean =>
  rule.kind === 'credential' ? rule.itself !== true : rule.kind === 'visible' || rule.kind === 'repository'

const isServiceAdministrator = (caller: Caller): boolean => caller.kind === 'file-key' && caller.serviceAdministrator

/**
 * The one decision: why may this caller not do what the rule protects? Null if it may. `held` is what the caller may do
 * in the repository at hand, empty where there is none. A refusal is 401 without a caller, 404 for a repository that
 * the caller may not see, 403 for anything else that is missing. Rules about one service account are decided by
 * `administrationRefusal`, which this cannot know: here they pass for whoever may administrate any. `where` is how the
 * refusal calls the repository.
 */
export const refusal = (
  caller: Caller | null,
  rule: AccessRule,
  held: ReadonlySet<RepositoryAction>,
  where = 'this repository',
): Failure | null => {
  if (rule.kind === 'anyone') return null
  if (caller === null)
    return new Failure('credential_missing', 'Send a credential in the header Authorization: Bearer <credential>.')
  // A link is let in at one door only; should another be opened to it by mistake, it stands there without rights.
  if (caller.kind === 'link' && rule.kind !== 'repository') return missing('another credential than a link')
  if (asksByPass(caller) && !isOpenToPasses(rule)) return missing('the credential itself, not a token made from it')
  if (rule.kind === 'own-key') return caller.kind === 'service-key' ? null : missing('a service key')
  if (caller.kind === 'service-key' && caller.pending)
    return new Failure('credential_invalid', 'This key was not activated yet (POST /api/v1/auth/activate-key).')
  switch (rule.kind) {
    case 'credential':
    case 'visible':
      return null
    case 'session':
      return caller.credential === 'session' ? null : missing('a signed-in session')
    case 'administrator':
      return caller.administrator ? null : missing('an administrator')
    case 'service-administrator':
      return isServiceAdministrator(caller) ? null : missing('the recovery key')
    case 'repository':
      return repositoryRefusal(rule.actions, held, where) ?? noneOf(rule.oneOf, held, where)
    case 'own-job':
      return held.size === 0 ? notFound('job') : repositoryRefusal([rule.action], held, where)
    case 'administration':
      return isServiceAdministrator(caller) || caller.kind === 'service-key' ? null : notFound('service account')
    case 'system':
      return caller.administrator ? null : missing(`the action ${rule.action}`)
    default:
      return rule satisfies never
  }
}

const repositoryRefusal = (
  actions: readonly RepositoryAction[],
  held: ReadonlySet<RepositoryAction>,
  where: string,
): Failure | null => {
  if (held.size === 0) return notFound('repository')
  // Reading the card is seeing the repository: who may not is told what a stranger is told.
  if (actions.includes('repository.read') && !held.has('repository.read')) return notFound('repository')
  const lacking = actions.filter((action) => !held.has(action))
  if (lacking.length === 0) return null
  const forKeys = lacking.filter((action) => !actionsOf('write').has(action))
  const hint = forKeys.length === 0 ? '' : ` (only service keys hold ${forKeys.join(', ')})`
  return missing(`${lacking.join(', ')} on ${where}${hint}`)
}

const noneOf = (
  actions: readonly RepositoryAction[] | undefined,
  held: ReadonlySet<RepositoryAction>,
  where: string,
): Failure | null =>
  actions === undefined || actions.some((action) => held.has(action))
    ? null
    : missing(`${actions.join(' or ')} on ${where}`)

/** What whoever lacks an action hears that their input turned out to ask. */
export const refuseUnlessHeld = (held: ReadonlySet<RepositoryAction>, action: RepositoryAction): void => {
  const refused = repositoryRefusal([action], held, 'this repository')
  if (refused !== null) throw refused
}

/** Lets the caller pass or throws the refusal, by what `q` knows. `parameters` are those of the path. */
export const authorize = async (
  q: Queries,
  caller: Caller | null,
  rule: AccessRule,
  parameters: Readonly<Record<string, string>>,
): Promise<void> => {
  const id = parameters['id'] ?? ''
  const repository = caller === null ? undefined : await repositoryAtHand(q, caller, rule, parameters)
  const held = caller === null || repository === undefined ? none : await heldActions(q, caller, repository)
  const refused = refusal(caller, rule, held)
  if (refused !== null) throw refused
  if (rule.kind !== 'administration' || caller === null) return
  const accountId = isUuid(id) && rule.of === 'service-key' ? await accountOfKey(q, id) : id
  if (accountId === null || !isUuid(id)) throw notFound('service account')
  const notHere = await administrationRefusal(q, caller, rule.action, accountId)
  if (notHere !== null) throw notHere
}

/** The same for the second repository of a rule that let the caller pass. */
export const authorizeAlso = async (
  q: Queries,
  caller: Caller | null,
  { actions }: SecondRepository,
  repository: string,
): Promise<void> => {
  const held = caller === null ? none : await heldActions(q, caller, repository)
  const refused = refusal(caller, { kind: 'repository', actions }, held, `the repository ${repository}`)
  if (refused !== null) throw refused
}

/**
 * The repository that a rule is about: the one in the path, or that of the caller's own job. Others' jobs do not exist.
 */
const repositoryAtHand = async (
  q: Queries,
  caller: Caller,
  rule: AccessRule,
  parameters: Readonly<Record<string, string>>,
): Promise<string | undefined> => {
  if (rule.kind === 'repository') return parameters['repository']
  const id = parameters['id'] ?? ''
  if (rule.kind !== 'own-job' || !isUuid(id)) return undefined
  const job = await readJob(q, id)
  return job?.owner === actorOf(caller) ? job.repository : undefined
}
