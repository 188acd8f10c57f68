import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { PersonalTokensTable } from '../../../database/tables/personal-tokens.ts'
import {
  type Actor,
  appendSecurityAudit,
  changeAuthority,
  unasked,
} from '../../../journal/security-audit/security-audit.ts'
import type { AccountCaller, TokenScope } from '../../../kernel/caller.ts'
import { type Clock, timestamp, utcMs } from '../../../kernel/clock.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import {
  lastUsedEveryMs,
  personalTokenDaysDefault,
  personalTokenDaysMax,
  personalTokenPrefixCharacters,
  personalTokensActiveMax,
} from '../../../kernel/limits/identity.ts'
import { day } from '../../../kernel/units.ts'
import { type NamedCredential, newSecret, secretDigest } from '../sessions/secrets.ts'
import { endSession, lockAccountRow } from '../sessions/sessions.ts'
import {
  countActive,
  deleteTokensEndedBefore,
  findTokenById,
  findTokenBySecret,
  findTokenRow,
  insertToken,
  listTokenRows,
  revokeAllOf,
  setLastUsed,
  setRevoked,
} from './tokens.queries.ts'

/** Personal access tokens: a person's repository access without the rest of the person. */
export const tokenPrefix = prefixes.token

export interface TokenDeps {
  readonly database: Database
  readonly clock: Clock
}

export interface PersonalToken {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly scope: TokenScope
  readonly createdAt: string
  readonly expiresAt: string
  readonly lastUsedAt: string | null
  readonly revoked: boolean
}

const toToken = (row: PersonalTokensTable): PersonalToken => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scope: row.scope,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  revoked: row.revoked_at !== null,
})

/** Up to 100 tokens of an account, active ones first. Never a secret. */
export const tokensOf = async ({ database, clock }: TokenDeps, accountId: string): Promise<PersonalToken[]> =>
  (await listTokenRows(database.reader, accountId, timestamp(clock.now()), pageMax)).map(toToken)

/** The end that was asked for, or 90 days from now; a token without end does not exist. */
const endOf = (asked: string | null | undefined, nowMs: number): string => {
  if (asked === undefined || asked === null) return timestamp(nowMs + personalTokenDaysDefault * day)
  const endMs = utcMs(asked)
  if (endMs === null) throw invalid('/expiresAt', 'must be a day and time that exist')
  if (endMs <= nowMs) throw invalid('/expiresAt', 'must be in the future')
  if (endMs > nowMs + personalTokenDaysMax * day)
    throw invalid('/expiresAt', `must be at most ${personalTokenDaysMax} days from now`)
  return timestamp(endMs)
}

export interface CreatedToken extends PersonalToken {
  /** The secret, which is nowhere else. */
  readonly token: string
}

export interface NewToken {
  readonly name: string
  readonly expiresAt?: string | null
  readonly scope?: TokenScope
}

/** Creates a token; its secret is in this answer and nowhere else. 507 `token_limit` at 50 active ones. */
export const createToken = (
  { database, clock }: TokenDeps,
  accountId: string,
  wanted: NewToken,
  actor: Actor,
): Promise<CreatedToken> => {
  const nowMs = clock.now()
  const expiresAt = endOf(wanted.expiresAt, nowMs)
  return changeAuthority(database, actor, async (tx) => {
    // Serialises the creations of one account, so that the count holds.
    await lockAccountRow(tx, accountId)
    return addToken(tx, accountId, { ...wanted, expiresAt, nowMs, bySignIn: 0 }, actor)
  })
}

/** Under the lock of the account. */
const addToken = async (
  tx: Transaction,
  accountId: string,
  wanted: NewToken & { readonly expiresAt: string; readonly nowMs: number; readonly bySignIn: 0 | 1 },
  actor: Actor,
): Promise<CreatedToken> => {
  const now = timestamp(wanted.nowMs)
  if ((await countActive(tx, accountId, now)) >= personalTokensActiveMax)
    throw new Failure('token_limit', `An account has at most ${personalTokensActiveMax} active tokens; revoke one.`)
  const token = newSecret(tokenPrefix)
  const row: PersonalTokensTable = {
    id: newId(wanted.nowMs),
    account_id: accountId,
    name: wanted.name,
    prefix: token.slice(0, personalTokenPrefixCharacters),
    secret_sha256: secretDigest(token),
    scope: wanted.scope ?? 'read-write',
    created_at: now,
    expires_at: wanted.expiresAt,
    last_used_at: null,
    by_sign_in: wanted.bySignIn,
    revoked_at: null,
  }
  await insertToken(tx, row)
  await audit(tx, actor, 'token.create', accountId, row.id, now)
  return { ...toToken(row), token }
}

/**
 * Ends a session and creates a token instead, in one step: whatever ended the session meanwhile (another password, an
 * account that was disabled) leaves nothing to give a token for. 401 then, and 507 `token_limit` as above.
 */
export const tokenForSession = (
  { database, clock }: TokenDeps,
  session: { readonly id: string; readonly account_id: string },
  wanted: NewToken,
  clientAddress: string,
): Promise<CreatedToken> => {
  const nowMs = clock.now()
  const accountId = session.account_id
  const actor = unasked({ actor: `account:${accountId}`, clientAddress })
  return changeAuthority(database, actor, async (tx) => {
    await lockAccountRow(tx, accountId)
    if (!(await endSession(tx, session.id, accountId)))
      throw new Failure('credential_invalid', 'This sign-in has ended meanwhile. Sign in again.')
    return addToken(tx, accountId, { ...wanted, expiresAt: endOf(wanted.expiresAt, nowMs), nowMs, bySignIn: 1 }, actor)
  })
}

/** Revokes the token of this secret if it was given to a client for a sign-in of this account, and no other. */
export const revokeTokenOfSignIn = async (
  deps: TokenDeps,
  accountId: string,
  secret: string,
  actor: Actor,
): Promise<void> => {
  const found = await findTokenBySecret(deps.database.reader, secretDigest(secret))
  if (found?.account_id === accountId && found.by_sign_in === 1)
    await revokeToken(deps, accountId, found.token_id, actor)
}

/** Revokes a token of an account at once. Repeating changes nothing; another account's token is a missing one. */
export const revokeToken = (deps: TokenDeps, accountId: string, id: string, actor: Actor): Promise<void> =>
  changeAuthority(deps.database, actor, async (tx) => {
    const row = await findTokenRow(tx, accountId, id)
    if (row === undefined) throw notFound('token')
    if (row.revoked_at !== null) return
    const now = timestamp(deps.clock.now())
    await setRevoked(tx, id, now)
    await audit(tx, actor, 'token.revoke', accountId, id, now)
  })

/** Removes tokens that ended before; returns how many. */
export const forgetTokens = deleteTokensEndedBefore

/** What a new password does to the tokens of an account. */
export const revokeTokensOf = (tx: Transaction, accountId: string, now: string): Promise<void> =>
  revokeAllOf(tx, accountId, now)

const audit = (
  tx: Transaction,
  actor: Actor,
  action: string,
  accountId: string,
  id: string,
  now: string,
): Promise<void> =>
  appendSecurityAudit(tx, actor, { action, subject: `account:${accountId} token:${id}`, occurredAt: now })

type Found = NonNullable<Awaited<ReturnType<typeof findTokenBySecret>>>

/**
 * The caller behind a token, read anew on each request. 401 `token_expired` to the holder of the exact secret,
 * `credential_invalid` when it was revoked, its account is disabled, or it is none.
 */
export const callerOfToken = async (
  q: Queries,
  token: string,
  nowMs: number,
): Promise<{ caller: AccountCaller; lastUsedIsOld: boolean }> => {
  const found = await findTokenBySecret(q, secretDigest(token))
  if (found === undefined)
    throw noToken({ why: 'unknown token', token: `${token.slice(0, personalTokenPrefixCharacters)}…` })
  const lastUsedIsOld = found.last_used_at === null || Date.parse(found.last_used_at) <= nowMs - lastUsedEveryMs
  return { caller: callerOf(found, nowMs), lastUsedIsOld }
}

/** Null for a token that is forgotten. */
export const tokenNamed = async (q: Queries, id: string, nowMs: number): Promise<NamedCredential | null> => {
  const found = await findTokenById(q, id)
  return found === undefined ? null : { sha256: found.secret_sha256, caller: () => callerOf(found, nowMs) }
}

const noToken = (forOperator: Readonly<Record<string, string>>): Failure =>
  new Failure('credential_invalid', 'This token does not exist or was revoked.', { forOperator })

const callerOf = (found: Found, nowMs: number): AccountCaller => {
  const named = { token: found.token_id, account: found.name }
  if (found.revoked_at !== null || found.enabled !== 1)
    throw noToken({ why: found.enabled === 1 ? 'revoked token' : 'disabled account', ...named })
  if (found.expires_at <= timestamp(nowMs))
    throw new Failure('token_expired', 'The token has expired; create a new one.', {
      forOperator: { why: `token expired at ${found.expires_at}`, ...named },
    })
  return {
    kind: 'account',
    credential: 'personal-token',
    id: found.account_id,
    name: found.name,
    administrator: false,
    scope: found.scope,
    credentialId: found.token_id,
  }
}

/** Remembers, roughly, when a token was used last. Nobody waits for it. */
export const rememberUse = ({ database, clock }: TokenDeps, tokenId: string): Promise<void> =>
  database.transaction((tx) => setLastUsed(tx, tokenId, timestamp(clock.now())), { durability: 'relaxed' })
