import type { Queries, Transaction } from '../../../database/database.ts'
import type { AccountCaller } from '../../../kernel/caller.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { sessionLifetimeMs, sessionsPerAccountMax } from '../../../kernel/limits/identity.ts'
import { type NamedCredential, newSecret, secretDigest } from './secrets.ts'
import {
  accountExists,
  deleteSession,
  deleteSessionsBeyond,
  deleteSessionsEndedBefore,
  deleteSessionsOf,
  findSessionById,
  findSessionBySecret,
  findSessionOpenedFor,
  insertSession,
  lockAccount,
  sessionRowsOf,
} from './sessions.queries.ts'

/** Sessions last 12 hours, whatever is done with them; an account has the newest 32 (specification, Sessions). */
export const sessionPrefix = prefixes.session

export interface OpenedSession {
  /** The only time that the secret is seen. */
  readonly token: string
  readonly expiresAt: string
}

/** Locks an account's row until the end of the transaction; undefined when there is none. */
export const lockAccountRow = lockAccount

/** 404 where there is no such account. */
export const requireAccount = async (q: Queries, id: string): Promise<void> => {
  if (!(await accountExists(q, id))) throw notFound('account')
}

/** Where an account is signed in. */
export const sessionsOf = sessionRowsOf

/** False when it has ended before, or is not of that account. */
export const endSession = deleteSession

export const endSessionsOf = deleteSessionsOf

/** Forgets sessions that ended long ago, so many at a time; how many it were. */
export const forgetSessions = deleteSessionsEndedBefore

const sessionEnded = (forOperator: Readonly<Record<string, string>>): Failure =>
  new Failure('credential_invalid', 'This session does not exist or has ended. Sign in again.', { forOperator })

/**
 * Opens a session and ends the oldest beyond the limit. Throws 401 when meanwhile the account was disabled, or got
 * another password than the one whose hash was checked: nobody comes in by a password that was just taken away.
 * `openedFor` is what {@link sessionOpenedFor} finds it by.
 */
export const openSession = async (
  tx: Transaction,
  checked: { id: string; password_hash: string },
  nowMs: number,
  openedFor: string | null = null,
): Promise<OpenedSession> => {
  const accountId = checked.id
  const account = await lockAccount(tx, accountId)
  if (account?.enabled !== 1 || account.password_hash !== checked.password_hash)
    throw wrongNameOrPassword({ why: 'disabled, or another password meanwhile', account: accountId })
  const token = newSecret(sessionPrefix)
  const expiresAt = timestamp(nowMs + sessionLifetimeMs)
  await insertSession(tx, {
    id: newId(nowMs),
    account_id: accountId,
    secret_sha256: secretDigest(token),
    created_at: timestamp(nowMs),
    expires_at: expiresAt,
    opened_for: openedFor,
  })
  await deleteSessionsBeyond(tx, accountId, sessionsPerAccountMax)
  return { token, expiresAt }
}

/** One answer for an unknown name, a wrong password and a disabled account. */
export const wrongNameOrPassword = (forOperator: Readonly<Record<string, string>>): Failure =>
  new Failure('invalid_credentials', 'The name or the password is wrong.', { forOperator })

/**
 * The caller behind a session token, read anew on each request, so that whatever ends a session ends it at once and
 * everywhere. 401 `session_expired` to the holder of the exact secret, otherwise `credential_invalid`.
 */
export const callerOfSession = async (q: Queries, token: string, nowMs: number): Promise<AccountCaller> => {
  const found = await findSessionBySecret(q, secretDigest(token))
  if (found === undefined) throw sessionEnded({ why: 'unknown session, or one that was ended' })
  return callerOf(found, nowMs)
}

/** The session of a secret, in whatever state it is. */
export const sessionOfSecret = (q: Queries, token: string) => findSessionBySecret(q, secretDigest(token))

/** The session that somebody opened for a program, and whose it is; undefined while nobody did, and once it ended. */
export const sessionOpenedFor = findSessionOpenedFor

/** Null for a session that was ended. */
export const sessionNamed = async (q: Queries, id: string, nowMs: number): Promise<NamedCredential | null> => {
  const found = await findSessionById(q, id)
  return found === undefined ? null : { sha256: found.secret_sha256, caller: () => callerOf(found, nowMs) }
}

type Found = NonNullable<Awaited<ReturnType<typeof findSessionBySecret>>>

const callerOf = (found: Found, nowMs: number): AccountCaller => {
  if (found.enabled !== 1) throw sessionEnded({ why: 'disabled account', account: found.name })
  if (found.expires_at <= timestamp(nowMs))
    throw new Failure('session_expired', 'The session ended 12 hours after sign-in. Sign in again.', {
      forOperator: { why: `session expired at ${found.expires_at}`, account: found.name },
    })
  return {
    kind: 'account',
    credential: 'session',
    id: found.account_id,
    name: found.name,
    administrator: found.administrator === 1,
    scope: 'read-write',
    credentialId: found.session_id,
  }
}
