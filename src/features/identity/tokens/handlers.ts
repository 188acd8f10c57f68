import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { doerOf } from '../../../journal/doer.ts'
import { requireAccount } from '../sessions/sessions.ts'
import * as operations from './operations.ts'
import { createToken, revokeToken, type TokenParts, tokensOf } from './tokens.ts'

export const tokenHandlers = (parts: TokenParts): BoundOperation[] => [
  handle(operations.listTokens, async ({ caller }) => ({
    status: 200,
    json: { items: await tokensOf(parts, caller.id) },
  })),
  handle(operations.createToken, async (input) => {
    const { caller, body } = input
    return { status: 201, json: await createToken(parts, caller.id, body, doerOf(input)) }
  }),
  handle(operations.revokeToken, async (input) => {
    await revokeToken(parts, input.caller.id, input.path.id, doerOf(input))
    return { status: 204, json: null }
  }),
  handle(operations.listUserTokens, async ({ path }) => {
    await requireAccount(parts.database.reader, path.id)
    return { status: 200, json: { items: await tokensOf(parts, path.id) } }
  }),
  handle(operations.revokeUserToken, async (input) => {
    await revokeToken(parts, input.path.id, input.path.tokenId, doerOf(input))
    return { status: 204, json: null }
  }),
]
