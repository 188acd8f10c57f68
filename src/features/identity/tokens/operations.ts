import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, nullable, oneOf, Timestamp, text, Uuid } from '../../../contract/schemas.ts'
import { personalTokenNameMaxCharacters } from '../../../kernel/limits/identity.ts'
import { patterns } from '../../../kernel/names.ts'

const Scope = oneOf(['read', 'read-write'] as const)
const TokenName = text(1, personalTokenNameMaxCharacters)

const view = {
  id: Uuid,
  name: TokenName,
  prefix: Type.String(),
  scope: Scope,
  createdAt: Timestamp,
  expiresAt: nullable(Timestamp),
  lastUsedAt: nullable(Timestamp),
  revoked: Type.Boolean(),
}
const TokenView = fields(view)

const own = { surface: 'identity', visibility: 'self', access: { kind: 'session' } } as const
const ofAdministrators = {
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
} as const

export const listTokens = defineOperation({
  ...own,
  id: 'listTokens',
  method: 'GET',
  path: '/api/v1/auth/tokens',
  summary: 'List one’s personal tokens, active ones first',
  retry: 'read',
  responses: { 200: answers('The tokens', fields({ items: Type.Array(TokenView, { maxItems: 100 }) })) },
})

export const createToken = defineOperation({
  ...own,
  id: 'createToken',
  method: 'POST',
  path: '/api/v1/auth/tokens',
  summary: 'Create a personal token',
  retry: 'never-automatic',
  body: jsonBody(
    fields({
      name: TokenName,
      expiresAt: Type.Optional(
        nullable(Type.String({ pattern: patterns.dateTime, description: 'an RFC 3339 date-time' })),
      ),
      scope: Type.Optional(Scope),
    }),
  ),
  responses: {
    201: answers('The token with its secret, which is shown only now', fields({ ...view, token: Type.String() })),
  },
  failures: ['token_limit'],
})

export const revokeToken = defineOperation({
  ...own,
  id: 'revokeToken',
  method: 'DELETE',
  path: '/api/v1/auth/tokens/{id}',
  summary: 'Revoke a personal token',
  retry: 'idempotent',
  pathParameters: fields({ id: Uuid }),
  responses: { 204: answersNothing('The token is revoked') },
  failures: ['not_found'],
})

export const listUserTokens = defineOperation({
  ...ofAdministrators,
  id: 'listUserTokens',
  method: 'GET',
  path: '/api/v1/users/{id}/tokens',
  summary: 'List the personal tokens of an account',
  retry: 'read',
  pathParameters: fields({ id: Uuid }),
  responses: { 200: answers('The tokens', fields({ items: Type.Array(TokenView, { maxItems: 100 }) })) },
  failures: ['not_found'],
})

export const revokeUserToken = defineOperation({
  ...ofAdministrators,
  id: 'revokeUserToken',
  method: 'DELETE',
  path: '/api/v1/users/{id}/tokens/{tokenId}',
  summary: 'Revoke a personal token of an account',
  retry: 'idempotent',
  pathParameters: fields({ id: Uuid, tokenId: Uuid }),
  responses: { 204: answersNothing('The token is revoked') },
  failures: ['not_found'],
})
