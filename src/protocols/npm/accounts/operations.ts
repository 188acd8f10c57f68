import Type, { type TProperties } from 'typebox'
import { answers, bytesBody, defineOperation } from '../../../contract/define.ts'
import { fields, RepositoryId } from '../../../contract/schemas.ts'
import { credentialMaxCharacters } from '../../../kernel/limits/identity.ts'
import { npmSentJsonBytesMax, npmSignInFormBytesMax } from '../../../kernel/limits/npm-accounts.ts'

/** Clients send fields and parameters of their own: those that nobody knows are passed over. */
const open = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: true })
const nothingAsked = open({})

const registry = '/npm/{repository}/-'
const inRegistry = { repository: RepositoryId }
const pathParameters = fields(inRegistry)

const own = {
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'credential' },
  pathParameters,
  query: nothingAsked,
} as const

/** Nobody has a credential yet; of the repository nothing is told, nor whether there is one. */
const signingIn = {
  surface: 'identity',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'this is where a client gets its credential' },
  retry: 'never-automatic',
  query: nothingAsked,
} as const

/** A JSON object, with whatever fields a client sends. */
const sentJson = bytesBody(null, npmSentJsonBytesMax)
const Ok = Type.Boolean()

export const pingNpmRegistry = defineOperation({
  id: 'pingNpmRegistry',
  method: 'GET',
  path: `${registry}/ping`,
  summary: 'Find out whether this is an npm registry',
  surface: 'discovery',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'it says that there is a registry, of every repository, whether it exists or not' },
  retry: 'read',
  pathParameters,
  query: nothingAsked,
  responses: { 200: answers('It is one', Type.Object({})) },
})

export const getNpmWhoami = defineOperation({
  ...own,
  id: 'getNpmWhoami',
  method: 'GET',
  path: `${registry}/whoami`,
  summary: 'Get the name of whose credential this is',
  retry: 'read',
  responses: { 200: answers('The name', open({ username: Type.String() })) },
})

/** As clients of CouchDB call an account. */
const User = Type.String({ pattern: '^org\\.couchdb\\.user:.+$', description: 'org.couchdb.user: and a name' })

export const putNpmUser = defineOperation({
  ...signingIn,
  id: 'putNpmUser',
  method: 'PUT',
  path: `${registry}/user/{user}`,
  summary: 'Sign in with name and password, or with a credential as the password, and get a token',
  pathParameters: fields({ ...inRegistry, user: User }),
  body: sentJson,
  responses: { 201: answers('Signed in', open({ ok: Ok, id: Type.String(), token: Type.String() })) },
  failures: ['invalid_credentials', 'credential_invalid', 'rate_limited', 'busy', 'token_limit'],
})

export const getNpmUser = defineOperation({
  ...own,
  id: 'getNpmUser',
  method: 'GET',
  path: `${registry}/user/{user}`,
  summary: 'Find somebody who may read the repository by name',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.read'] },
  retry: 'read',
  pathParameters: fields({ ...inRegistry, user: User }),
  responses: { 200: answers('The account', open({ name: Type.String(), email: Type.String() })) },
  failures: ['not_found'],
})

export const endNpmToken = defineOperation({
  ...own,
  id: 'endNpmToken',
  method: 'DELETE',
  path: `${registry}/user/token/{token}`,
  summary: 'Sign out: what was got by signing in ends, and any other credential stays',
  retry: 'idempotent',
  openToReadTokens: true,
  pathParameters: fields({ ...inRegistry, token: Type.String({ maxLength: credentialMaxCharacters }) }),
  responses: { 200: answers('Signed out', open({ ok: Ok })) },
})

export const beginNpmSignIn = defineOperation({
  ...signingIn,
  id: 'beginNpmSignIn',
  method: 'POST',
  path: `${registry}/v1/login`,
  summary: 'Begin to sign in by a browser',
  pathParameters,
  body: sentJson,
  responses: {
    200: answers(
      'The page for the browser, and what to ask for the token',
      open({ loginUrl: Type.String(), doneUrl: Type.String() }),
    ),
  },
})

/** What began where: signed here, so that nothing is kept of what nobody confirms. */
const Ticket = Type.String({ maxLength: 256, description: 'what the begin of the sign-in told' })
const From = Type.String({ maxLength: 64, description: 'the address that began it' })
const ticketed = {
  pathParameters: fields({ ...inRegistry, ticket: Ticket }),
  query: open({ from: From }),
} as const

export const getNpmSignInPage = defineOperation({
  ...signingIn,
  ...ticketed,
  id: 'getNpmSignInPage',
  method: 'GET',
  path: `${registry}/v1/login/{ticket}`,
  summary: 'A page on which a person signs in for a client that waits',
  retry: 'read',
  responses: { 200: { description: 'The page', schema: null, mediaType: 'text/html' } },
})

export const confirmNpmSignIn = defineOperation({
  ...signingIn,
  ...ticketed,
  id: 'confirmNpmSignIn',
  method: 'POST',
  path: `${registry}/v1/login/{ticket}`,
  summary: 'Sign in on that page',
  body: bytesBody(['application/x-www-form-urlencoded'], npmSignInFormBytesMax),
  responses: { 200: { description: 'A page that says how it went', schema: null, mediaType: 'text/html' } },
})

export const collectNpmSignIn = defineOperation({
  ...signingIn,
  ...ticketed,
  id: 'collectNpmSignIn',
  method: 'GET',
  path: `${registry}/v1/login/{ticket}/done`,
  summary: 'Get the token of a sign-in by a browser, once it was confirmed',
  query: open({ from: From, secret: Type.String({ maxLength: 128 }) }),
  responses: {
    200: answers('The token, this one time', open({ token: Type.String() })),
    202: answers('Not confirmed yet: ask again after Retry-After', Type.Object({})),
  },
  failures: ['not_found', 'credential_invalid', 'token_limit', 'method_not_allowed'],
})

export const getNpmProfile = defineOperation({
  ...own,
  id: 'getNpmProfile',
  method: 'GET',
  path: `${registry}/npm/v1/user`,
  summary: 'Get what is known of the caller, as npm asks for it',
  retry: 'read',
  responses: { 200: answers('The profile', open({ name: Type.String(), email: Type.String(), tfa: Type.Boolean() })) },
})

const Token = open({
  key: Type.String(),
  token: Type.String({ description: 'how it begins' }),
  name: Type.String(),
  created: Type.String(),
  readonly: Type.Boolean(),
})

export const listNpmTokens = defineOperation({
  ...own,
  id: 'listNpmTokens',
  method: 'GET',
  path: `${registry}/npm/v1/tokens`,
  summary: 'List one’s personal tokens that are good',
  retry: 'read',
  responses: {
    200: answers('The tokens', open({ objects: Type.Array(Token), urls: Type.Object({}), total: Type.Integer() })),
  },
})

export const createNpmToken = defineOperation({
  ...own,
  id: 'createNpmToken',
  method: 'POST',
  path: `${registry}/npm/v1/tokens`,
  summary: 'Create a personal token, by one’s password',
  retry: 'never-automatic',
  body: sentJson,
  responses: { 200: answers('The token, whose secret is shown only now', Token) },
  failures: ['invalid_credentials', 'rate_limited', 'busy', 'token_limit', 'permission_missing'],
})

export const revokeNpmToken = defineOperation({
  ...own,
  id: 'revokeNpmToken',
  method: 'DELETE',
  path: `${registry}/npm/v1/tokens/token/{key}`,
  summary: 'Revoke a personal token: with a session any of one’s own, with a token that one',
  retry: 'idempotent',
  openToReadTokens: true,
  pathParameters: fields({ ...inRegistry, key: Type.String({ maxLength: credentialMaxCharacters }) }),
  responses: { 204: { description: 'It is revoked', schema: null } },
  failures: ['not_found', 'permission_missing'],
})
