import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, nullable, oneOf, RepositoryId, Timestamp, text, Uuid } from '../../../contract/schemas.ts'
import { passwordMaxCharacters, passwordMinCharacters, sessionsPerAccountMax } from '../../../kernel/limits/identity.ts'
import { patterns } from '../../../kernel/names.ts'

const AccountName = Type.String({ pattern: patterns.accountName, description: '3 to 64 letters, digits, _ . or -' })
const Password = Type.String({
  minLength: passwordMinCharacters,
  maxLength: passwordMaxCharacters,
  pattern: patterns.text,
  description: 'text without control characters',
})

const AccountView = fields({
  id: Uuid,
  name: AccountName,
  administrator: Type.Boolean(),
  enabled: Type.Boolean(),
})

const SessionView = fields({ token: Type.String(), expiresAt: Timestamp, account: AccountView })

/** What may be typed at sign-in is not told apart from what may exist: a wrong form is a wrong name or password. */
const Credentials = fields({ name: text(1, 256), password: Type.String({ minLength: 1, maxLength: 1024 }) })

export const login = defineOperation({
  id: 'login',
  method: 'POST',
  path: '/api/v1/auth/login',
  summary: 'Sign in with name and password',
  surface: 'identity',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'this is where a credential comes from' },
  retry: 'never-automatic',
  body: jsonBody(Credentials),
  responses: { 200: answers('A session', SessionView) },
  failures: ['invalid_credentials', 'rate_limited', 'busy'],
})

export const register = defineOperation({
  id: 'register',
  method: 'POST',
  path: '/api/v1/auth/register',
  summary: 'Create an account for oneself',
  surface: 'identity',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a person without account asks for one; the setting decides' },
  retry: 'never-automatic',
  body: jsonBody(fields({ name: AccountName, password: Password })),
  responses: { 201: answers('The account, signed in', SessionView) },
  failures: ['registration_disabled', 'already_exists', 'rate_limited', 'account_limit', 'busy'],
})

export const getAuthOptions = defineOperation({
  id: 'getAuthOptions',
  method: 'GET',
  path: '/api/v1/auth/options',
  summary: 'How one may sign in here',
  surface: 'identity',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a sign-in page has no credential yet' },
  retry: 'read',
  responses: {
    200: answers(
      'The options, and what this deployment is called',
      fields({ selfRegistration: Type.Boolean(), setupRequired: Type.Boolean(), name: nullable(Type.String()) }),
    ),
  },
})

export const logout = defineOperation({
  id: 'logout',
  method: 'POST',
  path: '/api/v1/auth/logout',
  summary: 'End the session',
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'credential' },
  retry: 'idempotent',
  openToReadTokens: true,
  responses: { 204: answersNothing('The session has ended; another credential is not touched') },
})

export const listSessions = defineOperation({
  id: 'listSessions',
  method: 'GET',
  path: '/api/v1/auth/sessions',
  summary: 'List where one is signed in, newest first',
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'session' },
  retry: 'read',
  responses: {
    200: answers(
      'One’s sessions; the one that asks is `current`',
      fields({
        items: Type.Array(fields({ id: Uuid, createdAt: Timestamp, expiresAt: Timestamp, current: Type.Boolean() }), {
          maxItems: sessionsPerAccountMax,
        }),
      }),
    ),
  },
})

export const endSession = defineOperation({
  id: 'endSession',
  method: 'DELETE',
  path: '/api/v1/auth/sessions/{id}',
  summary: 'End a session of one’s own, here or elsewhere',
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'session' },
  retry: 'idempotent',
  pathParameters: fields({ id: Uuid }),
  responses: { 204: answersNothing('The session has ended') },
  failures: ['not_found'],
})

export const changePassword = defineOperation({
  id: 'changePassword',
  method: 'POST',
  path: '/api/v1/auth/password',
  summary: 'Change one’s own password, which ends all sessions and tokens',
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'session' },
  retry: 'never-automatic',
  body: jsonBody(fields({ currentPassword: Type.String({ minLength: 1, maxLength: 1024 }), newPassword: Password })),
  responses: { 204: answersNothing('Sign in again, with the new password') },
  failures: ['current_password_invalid', 'rate_limited', 'busy'],
})

export const getMe = defineOperation({
  id: 'getMe',
  method: 'GET',
  path: '/api/v1/auth/me',
  summary: 'Who is calling',
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'credential' },
  retry: 'read',
  responses: {
    200: answers(
      'The caller',
      fields({
        id: Type.String(),
        name: Type.String(),
        administrator: Type.Boolean(),
        credential: oneOf(['session', 'personal-token', 'service-key', 'file-key'] as const),
        tokenScope: Type.Optional(oneOf(['read', 'read-write'] as const)),
        grants: Type.Array(
          fields({ repository: RepositoryId, permissions: Type.Array(oneOf(['read', 'write'] as const)) }),
        ),
      }),
    ),
  },
})

export const listUsers = defineOperation({
  id: 'listUsers',
  method: 'GET',
  path: '/api/v1/users',
  summary: 'List accounts',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'read',
  responses: { 200: answers('Accounts ordered by name', fields({ items: Type.Array(AccountView) })) },
})

export const createUser = defineOperation({
  id: 'createUser',
  method: 'POST',
  path: '/api/v1/users',
  summary: 'Create an account',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'never-automatic',
  body: jsonBody(fields({ name: AccountName, password: Password, administrator: Type.Optional(Type.Boolean()) })),
  responses: { 201: answers('The account', AccountView) },
  failures: ['already_exists', 'account_limit', 'busy'],
})

export const updateUser = defineOperation({
  id: 'updateUser',
  method: 'PATCH',
  path: '/api/v1/users/{id}',
  summary: 'Enable or disable an account, or reset its password',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'never-automatic',
  pathParameters: fields({ id: Uuid }),
  body: jsonBody(fields({ enabled: Type.Optional(Type.Boolean()), password: Type.Optional(Password) })),
  responses: { 200: answers('The account', AccountView) },
  failures: ['not_found', 'busy'],
})
