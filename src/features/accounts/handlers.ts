import { type BoundOperation, handle } from '../../contract/handler.ts'
import type { Access } from '../../kernel/actions.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import {
  type AccountParts,
  allAccounts,
  changeAccount,
  createAccount,
  register as registerAccount,
  registrationOpen,
  signIn,
  signOut,
} from './accounts.ts'
import { createUser, getAuthOptions, getMe, listUsers, login, logout, register, updateUser } from './operations.ts'

export interface AccountHandlerParts extends AccountParts {
  /** All repositories that the caller has a grant on, ordered by id. */
  readonly grantsOf: (caller: Caller) => Promise<{ repository: string; access: Access }[]>
}

const permissions = (access: Access): Access[] => (access === 'write' ? ['read', 'write'] : ['read'])

export const accountHandlers = (parts: AccountHandlerParts): BoundOperation[] => [
  handle(login, async ({ body, request }) => ({
    status: 200,
    json: await signIn(parts, body, request.clientAddress),
  })),
  handle(register, async ({ body, request }) => ({
    status: 201,
    json: await registerAccount(parts, body, request.clientAddress),
  })),
  handle(getAuthOptions, async () => ({ status: 200, json: { selfRegistration: await registrationOpen(parts) } })),
  handle(logout, async ({ caller }) => {
    if (caller.kind === 'account') await signOut(parts, caller.sessionId)
    return { status: 204, json: null }
  }),
  handle(getMe, async ({ caller }) => ({
    status: 200,
    json: {
      id: caller.id,
      administrator: caller.administrator,
      credential: caller.credential,
      grants: (await parts.grantsOf(caller)).map(({ repository, access }) => ({
        repository,
        permissions: permissions(access),
      })),
    },
  })),
  handle(listUsers, async () => ({ status: 200, json: { items: await allAccounts(parts) } })),
  handle(createUser, async ({ body, caller, request }) => ({
    status: 201,
    json: await createAccount(
      parts,
      { name: body.name, password: body.password, administrator: body.administrator ?? false },
      { actor: actorOf(caller), clientAddress: request.clientAddress },
    ),
  })),
  handle(updateUser, async ({ path, body, caller, request }) => ({
    status: 200,
    json: await changeAccount(parts, path.id, body, {
      actor: actorOf(caller),
      clientAddress: request.clientAddress,
    }),
  })),
]
