import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Queries } from '../../../database/database.ts'
import { actorFrom } from '../../../journal/actor.ts'
import { namesOf } from '../../../journal/names.ts'
import { type Access, actionsOf, lookingOnly, type RepositoryAction } from '../../../kernel/actions.ts'
import { type AccountCaller, actorOf, type Caller } from '../../../kernel/caller.ts'
import { notFound } from '../../../kernel/failure.ts'
import {
  type AccountDeps,
  allAccounts,
  authOptions,
  changeAccount,
  changeOwnPassword,
  createAccount,
  ownSessions,
  register,
  signIn,
  signOut,
} from './accounts.ts'
import * as operations from './operations.ts'

export interface AccountHandlerDeps extends AccountDeps {
  /** The setting SVC_INSTANCE_NAME. */
  readonly instanceName: string | null
  /** All repositories in which the caller may do something, ordered by id. */
  readonly heldRepositories: (
    caller: Caller,
  ) => Promise<{ repository: string; actions: ReadonlySet<RepositoryAction> }[]>
}

/** In the words of grants: beyond looking, everything is writing; who sees a repository reads there. */
const permissions = (actions: ReadonlySet<RepositoryAction>): Access[] => {
  const writes = !actions.isSubsetOf(lookingOnly(actions))
  const reads = !writes || !actions.isDisjointFrom(actionsOf('read'))
  return [...(reads ? ['read' as const] : []), ...(writes ? ['write' as const] : [])]
}

/** What people call whoever calls. */
const callerName = async (q: Queries, caller: Caller): Promise<string> =>
  (await namesOf(q, [actorOf(caller)]))(actorOf(caller)) ?? caller.id

/** Of operations that are for sessions alone, which the pipeline has seen to. */
const signedIn = (caller: Caller): AccountCaller => {
  if (caller.kind !== 'account') throw new Error(`an operation for sessions was reached by a ${caller.kind}`)
  return caller
}

export const accountHandlers = (deps: AccountHandlerDeps): BoundOperation[] => [
  handle(operations.login, async ({ body, request }) => ({
    status: 200,
    json: await signIn(deps, body, request.clientAddress),
  })),
  handle(operations.register, async ({ body, request }) => ({
    status: 201,
    json: await register(deps, body, request.clientAddress),
  })),
  handle(operations.getAuthOptions, async () => ({
    status: 200,
    json: { ...(await authOptions(deps)), name: deps.instanceName },
  })),
  handle(operations.logout, async ({ caller, request }) => {
    if (caller.kind === 'account' && caller.credential === 'session') await signOut(deps, caller, request.clientAddress)
    return { status: 204, json: null }
  }),
  handle(operations.listSessions, async ({ caller }) => ({
    status: 200,
    json: { items: await ownSessions(deps, signedIn(caller)) },
  })),
  handle(operations.endSession, async ({ caller, path, request }) => {
    const { id } = signedIn(caller)
    if (!(await signOut(deps, { id, credentialId: path.id }, request.clientAddress))) throw notFound('session')
    return { status: 204, json: null }
  }),
  handle(operations.changePassword, async (input) => {
    await changeOwnPassword(deps, signedIn(input.caller), input.body, actorFrom(input))
    return { status: 204, json: null }
  }),
  handle(operations.getMe, async ({ caller }) => ({
    status: 200,
    json: {
      id: caller.id,
      name: await callerName(deps.database.reader, caller),
      administrator: caller.administrator,
      credential: caller.credential,
      ...(caller.credential === 'personal-token' ? { tokenScope: caller.scope } : {}),
      grants: (await deps.heldRepositories(caller)).map(({ repository, actions }) => ({
        repository,
        permissions: permissions(actions),
      })),
    },
  })),
  handle(operations.listUsers, async () => ({ status: 200, json: { items: await allAccounts(deps) } })),
  handle(operations.createUser, async (input) => ({
    status: 201,
    json: await createAccount(deps, { administrator: false, ...input.body }, actorFrom(input)),
  })),
  handle(operations.updateUser, async (input) => ({
    status: 200,
    json: await changeAccount(deps, input.path.id, input.body, actorFrom(input)),
  })),
]
