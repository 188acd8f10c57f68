import type { AccessRule } from '../../../contract/operation.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { actionsOf, isRepositoryAction, type RepositoryAction, type SystemAction } from '../../../kernel/actions.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { invalid } from '../../../kernel/failure.ts'
import { repositoryWith } from '../../catalog/repositories/repositories.ts'
import { policyOf } from '../service-accounts/usable-keys.ts'
import { refusal } from './access.ts'
import type { FileKey } from './file-keys.ts'
import { type Standing, standingsOf, type Through } from './standing.ts'
import { type Subject, subjectCalled } from './subjects.ts'
import { type MissingThing, namesApart } from './vocabulary.ts'

export interface ExplainDeps {
  readonly database: Database
  readonly clock: Clock
  /** Those of the keys file. */
  readonly fileKeys: readonly FileKey[]
}

/** In a sentence. */
const missing: Readonly<Record<MissingThing, string>> = {
  repository_missing: 'There is no such repository.',
  account_disabled: 'The account is disabled.',
  service_keys_only: 'Only keys of service accounts can hold this action; no grant carries it.',
  no_grant: 'No group of the account has a grant on this repository. Administrators need one as well.',
  no_entry: 'The entry of the keys file does not name this repository.',
  grant_too_small: 'What is granted on this repository does not carry this action.',
  no_active_key: 'The service account has no key that is active and has not expired.',
  not_in_policy: 'The policy of the service account does not allow it.',
  not_in_key: 'The policy of the service account allows it, but no key of it that works is bound to it.',
  not_administrator: 'Only administrators may do this.',
}

export interface Question {
  readonly caller: string
  readonly repository?: string | undefined
  readonly action: RepositoryAction | SystemAction
}

export interface Explanation {
  readonly caller: { readonly kind: Subject['kind']; readonly id: string; readonly name: string }
  readonly repository: string | null
  readonly action: RepositoryAction | SystemAction
  readonly allowed: boolean
  readonly reason: MissingThing | null
  readonly message: string
  readonly through: Through[]
}

export const shownSubject = ({ kind, id, name }: Subject): Explanation['caller'] => ({ kind, id, name })

/**
 * Whether somebody may do something now, and through what, or what is missing. 400 where it is not clear who is meant;
 * 404 for nobody.
 */
export const explainAccess = ({ database, clock, fileKeys }: ExplainDeps, question: Question): Promise<Explanation> =>
  database.snapshot(async (q) => {
    const { action, repository = '' } = question
    if (isRepositoryAction(action) === (repository === ''))
      throw invalid('/query/repository', `must ${repository === '' ? 'be named' : 'be left out'} for ${action}`)
    const subject = await subjectCalled(q, fileKeys, question.caller)
    const standings = await standingsOf(q, subject, repository, clock.now())
    const passing = standings.filter((standing) => mayDo(standing, action))
    const reason = passing.length > 0 ? null : await missingTo(q, subject, { action, repository, standings })
    const through = passing.flatMap((standing) => giving(standing, action))
    return {
      caller: shownSubject(subject),
      repository: repository === '' ? null : repository,
      action,
      allowed: reason === null,
      reason,
      message: reason === null ? `Allowed through ${inWords(through)}.` : missing[reason],
      through: once(through),
    }
  })

/** The decision itself, which {@link refusal} makes for every request. */
export const mayDo = ({ caller, actions }: Standing, action: RepositoryAction | SystemAction): boolean => {
  const rule: AccessRule = isRepositoryAction(action)
    ? { kind: 'repository', actions: [action] }
    : { kind: 'system', action }
  return refusal(caller, rule, actions) === null
}

/** What gives exactly this action, of all that gives something: a grant of read lets nobody write. */
export const giving = (
  { through }: Pick<Standing, 'through'>,
  action: RepositoryAction | SystemAction,
): readonly Through[] =>
  isRepositoryAction(action)
    ? through.filter(({ access }) => access === null || actionsOf(access).has(action))
    : [{ kind: 'role', id: null, name: 'administrator', access: null }]

/** The policy of an account stands behind each of its keys. */
export const once = (through: readonly Through[]): Through[] => [
  ...new Map(through.map((each) => [`${each.kind} ${each.id}`, each])).values(),
]

const words = {
  group: 'the group',
  policy: 'the policy of',
  key: 'the key',
  'keys-file': 'the entry',
  role: 'the role',
}

const inWords = (through: readonly Through[]): string => {
  const each = once(through)
  const names = namesApart(each)
  return each
    .map(({ kind }, at) => `${words[kind]} ${names[at]}${kind === 'keys-file' ? ' of the keys file' : ''}`)
    .join(', ')
}

interface Asked {
  readonly action: RepositoryAction | SystemAction
  readonly repository: string
  readonly standings: readonly Standing[]
}

const missingTo = async (
  q: Queries,
  subject: Subject,
  { action, repository, standings }: Asked,
): Promise<MissingThing> => {
  const identity = repository === '' ? null : await repositoryWith(q, repository)
  if (isRepositoryAction(action) && identity === null) return 'repository_missing'
  if (subject.kind !== 'key' && !subject.enabled) return 'account_disabled'
  if (!isRepositoryAction(action) || identity === null) return 'not_administrator'
  if (subject.kind === 'service-account') {
    if (standings.length === 0) return 'no_active_key'
    return (await policyOf(q, subject.id)).get(identity)?.has(action) === true ? 'not_in_key' : 'not_in_policy'
  }
  if (!actionsOf('write').has(action)) return 'service_keys_only'
  if (standings.some(({ actions }) => actions.size > 0)) return 'grant_too_small'
  return subject.kind === 'key' ? 'no_entry' : 'no_grant'
}
