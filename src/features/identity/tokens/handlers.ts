import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { doerOf } from '../../../journal/doer.ts'
import { requireAccount } from '../sessions/sessions.ts'
import { createToken, listTokens, listUserTokens, revokeToken, revokeUserToken } from './operations.ts'
import { createToken as create, revokeToken as revoke, type TokenParts, tokensOf } from './tokens.ts'

export const tokenHandlers = (parts: TokenParts): BoundOperation[] => [
  handle(listTokens, async ({ caller }) => ({ status: 200, json: { items: await tokensOf(parts, caller.id) } })),
  handle(createToken, async (input) => {
    const { caller, body } = input
    return { status: 201, json: await create(parts, caller.id, body, doerOf(input)) }
  }),
  handle(revokeToken, async (input) => {
    await revoke(parts, input.caller.id, input.path.id, doerOf(input))
    return { status: 204, json: null }
  }),
  handle(listUserTokens, async ({ path }) => {
    await requireAccount(parts.database.reader, path.id)
    return { status: 200, json: { items: await tokensOf(parts, path.id) } }
  }),
  handle(revokeUserToken, async (input) => {
    await revoke(parts, input.path.id, input.path.tokenId, doerOf(input))
    return { status: 204, json: null }
  }),
]
