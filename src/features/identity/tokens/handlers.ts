import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorFrom } from '../../../journal/actor.ts'
import { requireAccount } from '../sessions/sessions.ts'
import * as operations from './operations.ts'
import { createToken, revokeToken, type TokenDeps, tokensOf } from './tokens.ts'

export const tokenHandlers = (deps: TokenDeps): BoundOperation[] => [
  handle(operations.listTokens, async ({ caller }) => ({
    status: 200,
    json: { items: await tokensOf(deps, caller.id) },
  })),
  handle(operations.createToken, async (input) => {
    const { caller, body } = input
    return { status: 201, json: await createToken(deps, caller.id, body, actorFrom(input)) }
  }),
  handle(operations.revokeToken, async (input) => {
    await revokeToken(deps, input.caller.id, input.path.id, actorFrom(input))
    return { status: 204, json: null }
  }),
  handle(operations.listUserTokens, async ({ path }) => {
    await requireAccount(deps.database.reader, path.id)
    return { status: 200, json: { items: await tokensOf(deps, path.id) } }
  }),
  handle(operations.revokeUserToken, async (input) => {
    await revokeToken(deps, input.path.id, input.path.tokenId, actorFrom(input))
    return { status: 204, json: null }
  }),
]
