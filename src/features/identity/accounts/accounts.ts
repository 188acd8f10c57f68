import { moveCounter } from '../../../database/counters.queries.ts'
import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { AccountsTable } from '../../../database/tables/accounts.ts'
import {
  type Actor,
  appendSecurityAudit,
  changeAuthority,
  unasked,
} from '../../../journal/security-audit/security-audit.ts'
import type { AccountCaller } from '../../../kernel/caller.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { accountsMax, selfRegisteredAccountsMax, toldFailuresPerAccount } from '../../../kernel/limits/identity.ts'
import { caseless } from '../../../kernel/names.ts'
import { networkOf, wideNetworkOf } from '../../../kernel/networks.ts'
import { makeOwner } from '../groups/groups.ts'
import type { Standing } from '../sessions/password-line.ts'
import type { Passwords } from '../sessions/passwords.ts'
import {
  endSession,
  endSessionsOf,
  lockAccountRow,
  type OpenedSession,
  openSession,
  sessionsOf,
  wrongNameOrPassword,
} from '../sessions/sessions.ts'
import { countRegistration, forgiveAccount, recordFailure, refuseWhileThrottled } from '../sessions/throttle.ts'
import { revokeTokensOf } from '../tokens/tokens.ts'
import {
  findAccount,
  findAccountByNameKey,
  insertAccount,
  listAccounts,
  replacePasswordHash,
  updateAccount,
} from './accounts.queries.ts'

export interface SignInDeps {
  readonly database: Database
  readonly clock: Clock
  readonly passwords: Passwords
  readonly report: (message: string, error: unknown) => void
}

export interface AccountDeps extends SignInDeps {
  /** The setting SVC_ALLOW_REGISTRATION. */
  readonly allowRegistration: boolean
}

export interface Account {
  readonly id: string
  readonly name: string
  readonly administrator: boolean
  readonly enabled: boolean
}

export interface SignedIn extends OpenedSession {
  readonly account: Account
}

/**
 * Nobody has many accounts that are known, or many wide networks; of other names, and addresses, one may have any
 * number.
 */
const standingIn = (line: Standing['line'], who: string, address: string): Standing => {
  const network = networkOf(address)
  return { line, subject: `${network} ${who}`, network, party: line === 'known' ? who : wideNetworkOf(address) }
}

/** Who changes accounts has signed in, or has a key. */
const standingOf = ({ actor, clientAddress }: Actor): Standing => standingIn('known', actor, clientAddress)

const toAccount = (row: AccountsTable): Account => ({
  id: row.id,
  name: row.name,
  administrator: row.administrator === 1,
  enabled: row.enabled === 1,
})

export const allAccounts = async ({ database }: AccountDeps): Promise<Account[]> =>
  (await listAccounts(database.reader, accountsMax)).map(toAccount)

/**
 * Signs in. Every way to fail takes the same time and gives the same answer; wrong tries lead to pauses. `openedFor`
 * marks a session that is for another program.
 */
export const signIn = async (
  deps: SignInDeps,
  credentials: { name: string; password: string },
  clientAddress: string,
  openedFor: string | null = null,
): Promise<SignedIn> => {
  const { database, clock, passwords } = deps
  const subjects = { name: credentials.name, address: clientAddress }
  const row = await findAccountByNameKey(database.reader, caseless(credentials.name))
  const refuse = () => refuseWhileThrottled(database, clock, { ...subjects, account: row?.name })
  const throttles = await refuse()
  // Asked again at its turn, or a burst of tries would all be looked at before the first of them counts.
  const right = await passwords.matches(
    credentials.password,
    row?.password_hash ?? null,
    standingIn(throttles.known ? 'known' : 'other', caseless(credentials.name), clientAddress),
    refuse,
  )
  if (!right || row?.enabled !== 1) {
    const failures = await recordFailure(database, clock, throttles)
    if (row !== undefined && isTelling(failures)) rememberFailure(deps, row.id, clientAddress)
    throw wrongNameOrPassword(wrongTry(row, right))
  }
  await forgiveAccount(database, clock, subjects, throttles)
  const actor = unasked({ actor: `account:${row.id}`, clientAddress })
  const session = await changeAuthority(database, actor, async (tx) => {
    const opened = await openSession(tx, row, clock.now(), openedFor)
    await tellOfSession(tx, actor, 'account.sign-in', row.id, clock)
    return opened
  })
  return { ...session, account: toAccount(row) }
}

const tellOfSession = (
  tx: Transaction,
  actor: Actor,
  action: 'account.sign-in' | 'account.sign-in-failed' | 'account.sign-out',
  id: string,
  clock: Clock,
): Promise<void> =>
  appendSecurityAudit(tx, actor, { action, subject: `account:${id}`, occurredAt: timestamp(clock.now()) })

/** The first few of a day, and then each time they have doubled: whoever tries without end fills no table. */
const isTelling = (failures: number): boolean => failures <= toldFailuresPerAccount || (failures & (failures - 1)) === 0

/**
 * Puts a failed sign-in to an account into the security audit. Nobody waits for it, or the time that an answer takes
 * would tell which names there are.
 */
const rememberFailure = ({ database, clock, report }: SignInDeps, id: string, clientAddress: string): void => {
  const actor = unasked({ actor: 'unknown', clientAddress })
  changeAuthority(database, actor, (tx) => tellOfSession(tx, actor, 'account.sign-in-failed', id, clock)).catch(
    (error: unknown) => report('a failed sign-in could not be put into the security audit', error),
  )
}

/** A name that nobody has is not logged: it may be a password that was typed into the wrong field. */
const wrongTry = (row: AccountsTable | undefined, right: boolean): Record<string, string> => {
  if (row === undefined) return { why: 'no account of this name' }
  return { why: right ? 'disabled account' : 'wrong password', account: row.name }
}

/** Where an account is signed in, newest first. */
export const ownSessions = async (
  { database, clock }: Pick<AccountDeps, 'database' | 'clock'>,
  { id, credentialId }: Pick<AccountCaller, 'id' | 'credentialId'>,
) =>
  (await sessionsOf(database.reader, id, timestamp(clock.now()))).map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    current: row.id === credentialId,
  }))

/**
 * Ends a session of an account at once; a change of authority that it is making is done first. False where there is
 * none.
 */
export const signOut = async (
  { database, clock }: Pick<AccountDeps, 'database' | 'clock'>,
  { id, credentialId }: Pick<AccountCaller, 'id' | 'credentialId'>,
  clientAddress: string,
): Promise<boolean> => {
  const actor = unasked({ actor: `account:${id}`, clientAddress })
  return changeAuthority(database, actor, async (tx) => {
    await lockAccountRow(tx, id)
    const ended = await endSession(tx, credentialId, id)
    if (ended) await tellOfSession(tx, actor, 'account.sign-out', id, clock)
    return ended
  })
}

export interface NewAccount {
  readonly name: string
  readonly password: string
  readonly administrator: boolean
}

/**
 * Creates an account. The very first one is an administrator and joins the owners of `releases`, whatever was asked.
 * 409 `already_exists` for a taken name (without regard to case), 507 `account_limit` at 1,000.
 */
export const createAccount = async (deps: AccountDeps, wanted: NewAccount, actor: Actor): Promise<Account> => {
  const passwordHash = await deps.passwords.hash(wanted.password, standingOf(actor))
  return changeAuthority(deps.database, actor, async (tx) => {
    const nowMs = deps.clock.now()
    const count = await moveCounter(tx, 'accounts', 1)
    const row = newRow(wanted, passwordHash, nowMs, count === 1)
    if (!(await insertAccount(tx, row))) throw taken(wanted.name)
    if (count > accountsMax) throw new Failure('account_limit', `The server has its ${accountsMax} accounts already.`)
    await appendSecurityAudit(tx, actor, {
      action: 'account.create',
      subject: `account:${row.id}`,
      occurredAt: row.created_at,
    })
    if (count === 1) await makeOwner(tx, row.id, actor, nowMs)
    return toAccount(row)
  })
}

const newRow = (wanted: NewAccount, passwordHash: string, nowMs: number, first: boolean): AccountsTable => ({
  id: newId(nowMs),
  name: wanted.name,
  name_key: caseless(wanted.name),
  administrator: first || wanted.administrator ? 1 : 0,
  enabled: 1,
  password_hash: passwordHash,
  created_at: timestamp(nowMs),
})

const taken = (name: string): Failure =>
  new Failure('already_exists', `An account named ${JSON.stringify(name)} exists (names differ by more than case).`)

const closed = (): Failure =>
  new Failure('registration_disabled', 'Ask an administrator for an account; self-registration is off.')

/** True once somebody owns the server. */
export const anyAccount = async (q: Queries): Promise<boolean> => (await listAccounts(q, 1)).length > 0

/** True when people may register themselves: the setting is on and the first owner exists. */
export const registrationOpen = async (deps: AccountDeps): Promise<boolean> =>
  deps.allowRegistration && (await anyAccount(deps.database.reader))

/** How one may sign in here; `setupRequired` while there is no account at all, which the recovery key is for. */
export const authOptions = async (
  deps: AccountDeps,
): Promise<{ selfRegistration: boolean; setupRequired: boolean }> => ({
  selfRegistration: await registrationOpen(deps),
  setupRequired: !(await anyAccount(deps.database.reader)),
})

/** Creates a plain account without any access and signs it in. Each registration counts against its address. */
export const register = async (
  deps: AccountDeps,
  wanted: { name: string; password: string },
  clientAddress: string,
): Promise<SignedIn> => {
  if (!(await registrationOpen(deps))) throw closed()
  await countRegistration(deps.database, deps.clock, clientAddress)
  const passwordHash = await deps.passwords.hash(wanted.password, standingIn('register', '', clientAddress))
  const nowMs = deps.clock.now()
  const row = newRow({ ...wanted, administrator: false }, passwordHash, nowMs, false)
  const actor = unasked({ actor: `account:${row.id}`, clientAddress })
  return changeAuthority(deps.database, actor, async (tx) => {
    const count = await moveCounter(tx, 'accounts', 1)
    if (!(await insertAccount(tx, row))) throw taken(wanted.name)
    if (count > selfRegisteredAccountsMax)
      throw new Failure('account_limit', `Self-registration stops at ${selfRegisteredAccountsMax} accounts.`)
    await appendSecurityAudit(tx, actor, {
      action: 'account.register',
      subject: `account:${row.id}`,
      occurredAt: row.created_at,
    })
    return { ...(await openSession(tx, row, nowMs)), account: toAccount(row) }
  })
}

export interface AccountChange {
  readonly enabled?: boolean
  readonly password?: string
}

/**
 * Enables, disables or gives a new password. Both ends every session of the account at once; a new password revokes its
 * personal tokens too, while those of a disabled account only stop working until it is enabled again.
 */
export const changeAccount = async (
  deps: AccountDeps,
  id: string,
  change: AccountChange,
  actor: Actor,
): Promise<Account> => {
  const passwordHash =
    change.password === undefined ? undefined : await deps.passwords.hash(change.password, standingOf(actor))
  return changeAuthority(deps.database, actor, async (tx) => {
    const occurredAt = timestamp(deps.clock.now())
    const nothing = change.enabled === undefined && passwordHash === undefined
    const row = nothing
      ? await findAccount(tx, id)
      : await updateAccount(tx, id, {
          ...(change.enabled === undefined ? {} : { enabled: change.enabled ? 1 : 0 }),
          ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
        })
    if (row === undefined) throw notFound('account')
    if (change.enabled === false || passwordHash !== undefined) await endSessionsOf(tx, id)
    if (passwordHash !== undefined) await revokeTokensOf(tx, id, occurredAt)
    const subject = `account:${id}`
    if (change.enabled !== undefined)
      await appendSecurityAudit(tx, actor, {
        action: change.enabled ? 'account.enable' : 'account.disable',
        subject,
        occurredAt,
      })
    if (passwordHash !== undefined)
      await appendSecurityAudit(tx, actor, { action: 'account.reset-password', subject, occurredAt })
    return toAccount(row)
  })
}

/**
 * Changes the password of the account that is signed in; every session and personal token of it ends, this one
 * included. 401 `current_password_invalid` counts like a wrong try to sign in from where the account is known, and
 * against the session: whoever has a stolen one guesses no more than that, and holds up no other.
 */
export const changeOwnPassword = async (
  deps: AccountDeps,
  { id, credentialId }: Pick<AccountCaller, 'id' | 'credentialId'>,
  change: { currentPassword: string; newPassword: string },
  actor: Actor,
): Promise<void> => {
  const { database, clock, passwords } = deps
  const row = await findAccount(database.reader, id)
  if (row === undefined) throw notFound('account')
  const subjects = { name: row.name, address: actor.clientAddress, session: credentialId }
  const refuse = () => refuseWhileThrottled(database, clock, subjects)
  const throttles = await refuse()
  // Whoever is signed in is known.
  const standing = standingIn('known', row.name_key, actor.clientAddress)
  if (!(await passwords.matches(change.currentPassword, row.password_hash, standing, refuse))) {
    await recordFailure(database, clock, throttles)
    throw new Failure('current_password_invalid', 'The current password is wrong.')
  }
  const passwordHash = await passwords.hash(change.newPassword, standing)
  await changeAuthority(database, actor, async (tx) => {
    const occurredAt = timestamp(clock.now())
    // Whoever was faster with another password has ended this session.
    if (!(await replacePasswordHash(tx, id, row.password_hash, passwordHash)))
      throw new Failure('credential_invalid', 'The password was changed meanwhile. Sign in again.')
    await endSessionsOf(tx, id)
    await revokeTokensOf(tx, id, occurredAt)
    await appendSecurityAudit(tx, actor, { action: 'account.change-password', subject: `account:${id}`, occurredAt })
  })
}
