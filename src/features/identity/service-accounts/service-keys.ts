import { hash } from 'node:crypto'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { ServiceAccountsTable, ServiceKeysTable } from '../../../database/tables/service-accounts.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import type { Caller, RepositoryPermissions } from '../../../kernel/caller.ts'
import { earlier, timestamp, utcMs } from '../../../kernel/clock.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import {
  activeKeysMax,
  keyActivationMs,
  keyDaysDefault,
  keyDaysMax,
  pendingKeysMax,
  rotationOverlapMs,
} from '../../../kernel/limits/identity.ts'
import { day } from '../../../kernel/units.ts'
import { newSecret, secretDigest } from '../sessions/secrets.ts'
import { type Authority, grantedAuthority, refuseBeyondCeiling } from './authority.ts'
import { type Binding, bound as boundNow, parseBindings, permissionsOf, shownBindings, within } from './bindings.ts'
import { byAKey, lockServiceAccount } from './service-accounts.queries.ts'
import type { ServiceAccountDeps } from './service-accounts.ts'
import {
  countActive,
  countPending,
  findKeyByRequest,
  findServiceKeyRow,
  insertServiceKey,
  listServiceKeyRows,
  lockServiceKey,
  replacedKeys,
  updateServiceKey,
} from './service-keys.queries.ts'

/**
 * Keys of service accounts (specification, Service key).
 *
 * pending --activate within 15 minutes--> active --revoke--> revoked; pending --revoke--> revoked. Expiry changes no
 * state. Activating a key that was rotated from another cuts the other's end to at most 24 hours from then. What works
 * at once is bounded: three active keys, and three that others have replaced, one for each at most.
 */
export const servicePrefix = prefixes.service

export interface ServiceKey {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly state: ServiceKeysTable['state']
  readonly bindings: Binding[]
  readonly createdAt: string
  readonly expiresAt: string
  readonly activationExpiresAt: string
  readonly rotatedFrom: string | null
}

const toServiceKeys = async (q: Queries, rows: readonly ServiceKeysTable[]): Promise<ServiceKey[]> => {
  const bindings = await shownBindings(
    q,
    rows.map((row) => row.bindings),
  )
  return rows.map((row, at) => ({
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    state: row.state,
    bindings: bindings[at] ?? [],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    activationExpiresAt: row.activation_expires_at,
    rotatedFrom: row.rotated_from,
  }))
}

const toServiceKey = async (q: Queries, row: ServiceKeysTable): Promise<ServiceKey> => {
  const [key] = await toServiceKeys(q, [row])
  if (key === undefined) throw new Error('a row has become no key')
  return key
}

/** Locks a key until the end of the transaction, as everyone does who changes it. */
export const lockKeyRow = async (tx: Transaction, id: string): Promise<void> => {
  await lockServiceKey(tx, id)
}

/** The key's account, or null without such a key. */
export const accountOfKey = async (q: Queries, keyId: string): Promise<string | null> =>
  (await findServiceKeyRow(q, keyId))?.account_id ?? null

export const serviceKeyById = async (q: Queries, id: string): Promise<ServiceKey> => {
  const row = await findServiceKeyRow(q, id)
  if (row === undefined) throw notFound('service key')
  return toServiceKey(q, row)
}

export const keysOfAccount = async (
  q: Queries,
  accountId: string,
  after: string,
  limit: number,
): Promise<ServiceKey[]> => toServiceKeys(q, await listServiceKeyRows(q, accountId, after, limit))

export interface NewKey {
  readonly name: string
  readonly bindings: Binding[]
  readonly expiresAt?: string
}

/** Who asks, and under which Idempotency-Key. */
export interface KeyRequest {
  readonly idempotencyKey: string
  readonly actor: Actor
}

export interface IssuedKey {
  readonly key: ServiceKey
  /** Null in the answer to a repeated request: the secret appears once. */
  readonly secret: string | null
}

/** Issues a pending key whose bindings lie within the account's policy (409 `policy_exceeded`). 507 `key_limit`. */
export const issueKey = (
  deps: ServiceAccountDeps,
  accountId: string,
  wanted: NewKey,
  request: KeyRequest,
): Promise<IssuedKey> =>
  changeAuthority(deps.database, request.actor, async (tx, caller) => {
    const account = await lockExisting(tx, accountId)
    const policy = permissionsOf(parseBindings(account.bindings))
    const bound = { permissions: policy, what: 'the policy of the account' }
    return add(tx, deps.clock.now(), account, wanted, { ...request, caller }, { bound, rotatedFrom: null })
  })

/** Issues a pending key that is to replace another one, with bindings within those of the old key. */
export const rotateKey = (
  deps: ServiceAccountDeps,
  keyId: string,
  wanted: NewKey,
  request: KeyRequest,
): Promise<IssuedKey> =>
  changeAuthority(deps.database, request.actor, async (tx, caller) => {
    const accountId = await accountOfKey(tx, keyId)
    if (accountId === null) throw notFound('service key')
    const account = await lockExisting(tx, accountId)
    const old = await lockServiceKey(tx, keyId)
    if (old === undefined) throw notFound('service key')
    const bound = { permissions: permissionsOf(parseBindings(old.bindings)), what: 'the bindings of the old key' }
    return add(tx, deps.clock.now(), account, wanted, { ...request, caller }, { bound, rotatedFrom: old })
  })

const lockExisting = async (tx: Transaction, accountId: string): Promise<ServiceAccountsTable> => {
  const account = await lockServiceAccount(tx, accountId)
  if (account === undefined) throw notFound('service account')
  return account
}

interface Origin {
  readonly bound: { readonly permissions: RepositoryPermissions; readonly what: string }
  readonly rotatedFrom: ServiceKeysTable | null
}

/** The account's row is locked: counts and the idempotency record hold. */
const add = async (
  tx: Transaction,
  nowMs: number,
  account: ServiceAccountsTable,
  wanted: NewKey,
  request: KeyRequest & { readonly caller: Caller | null },
  { bound, rotatedFrom }: Origin,
): Promise<IssuedKey> => {
  const authority = await grantedAuthority(tx, request.caller, account.id)
  const requestedBy = requesterOf(request.caller)
  const asked = hash(
    'sha256',
    JSON.stringify([
      account.id,
      rotatedFrom?.id ?? null,
      wanted.name,
      plainly(wanted.bindings),
      // Another way to write the same time is the same wish.
      wanted.expiresAt === undefined ? null : (utcMs(wanted.expiresAt) ?? wanted.expiresAt),
    ]),
  )
  const known = await findKeyByRequest(tx, requestedBy, request.idempotencyKey)
  if (known !== undefined) {
    if (known.request_sha256 !== asked) throw usedForAnother()
    return { key: await toServiceKey(tx, known), secret: null }
  }
  if (rotatedFrom !== null && (rotatedFrom.state !== 'active' || rotatedFrom.expires_at <= timestamp(nowMs)))
    throw new Failure('key_state', 'Only an active key that has not expired can be rotated.')
  if (rotatedFrom !== null && rotatedFrom.superseded_at !== null)
    throw new Failure('key_state', 'This key was rotated already, and another one is in its place; rotate that one.')
  const bindings = await boundNow(tx, wanted.bindings)
  const permissions = permissionsOf(bindings)
  if (!within(permissions, bound.permissions))
    throw new Failure('policy_exceeded', `The bindings go beyond ${bound.what}.`)
  // An old key may say more than a policy that was narrowed since; a delegate does not hand that on.
  if (authority.ceiling !== null && !within(permissions, permissionsOf(parseBindings(account.bindings))))
    throw new Failure('policy_exceeded', 'The bindings go beyond the policy of the account.')
  refuseBeyondCeiling(authority, permissions, 'The new key')
  const expiresAt = endOf(wanted.expiresAt, nowMs, authority)
  if ((await countPending(tx, account.id, timestamp(nowMs))) >= pendingKeysMax)
    throw new Failure('key_limit', `${pendingKeysMax} keys wait for their activation already.`)
  const id = newId(nowMs)
  const secret = newSecret(`${servicePrefix}${id}.`)
  const row: ServiceKeysTable = {
    id,
    account_id: account.id,
    name: wanted.name,
    state: 'pending',
    secret_sha256: secretDigest(secret),
    bindings: JSON.stringify(bindings),
    created_at: timestamp(nowMs),
    expires_at: expiresAt,
    activation_expires_at: timestamp(nowMs + keyActivationMs),
    rotated_from: rotatedFrom?.id ?? null,
    superseded_at: null,
    requested_by: requestedBy,
    idempotency_key: request.idempotencyKey,
    request_sha256: asked,
  }
  // Equal requests wait for the lock of their account: whoever was faster asked for a key of another one.
  if (!(await insertServiceKey(tx, row))) throw usedForAnother()
  await audit(tx, request.actor, rotatedFrom === null ? 'key.issue' : 'key.rotate', row, row.created_at)
  return { key: await toServiceKey(tx, row), secret }
}

const usedForAnother = (): Failure =>
  new Failure('idempotency_mismatch', 'This Idempotency-Key was used for another key; take a new one.')

/** Bindings without their field names, whose order in the request means nothing. */
const plainly = (bindings: readonly Binding[]) => bindings.map(({ resource, actions }) => [resource.id, actions])

const requesterOf = (caller: Caller | null): string =>
  caller?.kind === 'service-key' ? `${byAKey}${caller.keyId}` : `${caller?.kind}:${caller?.id}`

/** 90 days from now at most 365; for a delegate at most the end of its own key. */
const endOf = (asked: string | undefined, nowMs: number, authority: Authority): string => {
  if (asked === undefined) {
    const end = timestamp(nowMs + keyDaysDefault * day)
    return authority.expiresAt === null ? end : earlier(authority.expiresAt, end)
  }
  const endMs = utcMs(asked)
  if (endMs === null) throw invalid('/expiresAt', 'must be a day and time that exist')
  if (endMs <= nowMs) throw invalid('/expiresAt', 'must be in the future')
  if (endMs > nowMs + keyDaysMax * day) throw invalid('/expiresAt', `must be at most ${keyDaysMax} days from now`)
  const end = timestamp(endMs)
  if (authority.expiresAt !== null && end > authority.expiresAt)
    throw new Failure('ceiling_exceeded', `The key would outlive yours, which ends ${authority.expiresAt}.`)
  return end
}

/**
 * Activates the key that calls. Again is harmless. 507 `key_limit` when three others are active; a key that this one
 * replaces does not count from now on and ends within 24 hours.
 */
export const activateKey = (deps: ServiceAccountDeps, actor: Actor): Promise<void> =>
  changeAuthority(deps.database, actor, async (tx, caller) => {
    if (caller?.kind !== 'service-key') throw new Failure('permission_missing', 'This needs a service key.')
    await lockExisting(tx, caller.id)
    const key = await lockServiceKey(tx, caller.keyId)
    if (key?.state === 'active') return
    if (key?.state !== 'pending') throw new Failure('credential_invalid', 'The key was revoked.')
    const nowMs = deps.clock.now()
    const now = timestamp(nowMs)
    if (key.rotated_from !== null) await supersede(tx, key.rotated_from, nowMs)
    if ((await countActive(tx, key.account_id, now)) >= activeKeysMax)
      throw new Failure('key_limit', `The account has its ${activeKeysMax} active keys; revoke one.`)
    await updateServiceKey(tx, key.id, { state: 'active' })
    await audit(tx, actor, 'key.activate', key, now)
  })

/**
 * Lets a key work for a while beside the one that replaces it. The one that it replaced itself ends now, and so does
 * what was replaced first where more than as many as may be active would be left.
 */
const supersede = async (tx: Transaction, id: string, nowMs: number): Promise<void> => {
  const old = await lockServiceKey(tx, id)
  if (old === undefined) return
  const now = timestamp(nowMs)
  await updateServiceKey(tx, id, {
    superseded_at: old.superseded_at ?? now,
    expires_at: earlier(old.expires_at, timestamp(nowMs + rotationOverlapMs)),
  })
  if (old.rotated_from !== null) await endNow(tx, old.rotated_from, now)
  const replaced = await replacedKeys(tx, old.account_id, now)
  for (const key of replaced.slice(activeKeysMax)) await endNow(tx, key.id, now)
}

const endNow = async (tx: Transaction, id: string, now: string): Promise<void> => {
  const key = await lockServiceKey(tx, id)
  if (key !== undefined) await updateServiceKey(tx, id, { expires_at: earlier(key.expires_at, now) })
}

/** Revokes a key at once; transfers that it started go on. Again is harmless. */
export const revokeKey = (deps: ServiceAccountDeps, keyId: string, actor: Actor): Promise<ServiceKey> =>
  changeAuthority(deps.database, actor, async (tx) => {
    const key = await lockServiceKey(tx, keyId)
    if (key === undefined) throw notFound('service key')
    if (key.state === 'revoked') return toServiceKey(tx, key)
    await updateServiceKey(tx, keyId, { state: 'revoked' })
    await audit(tx, actor, 'key.revoke', key, timestamp(deps.clock.now()))
    return toServiceKey(tx, { ...key, state: 'revoked' })
  })

const audit = (
  tx: Transaction,
  actor: Actor,
  action: string,
  key: ServiceKeysTable,
  occurredAt: string,
): Promise<void> =>
  appendSecurityAudit(tx, actor, {
    action,
    subject: `service-account:${key.account_id} key:${key.id}`,
    serviceAccountId: key.account_id,
    occurredAt,
  })
