import { moveCounter } from '../../../database/counters.queries.ts'
import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { ServiceAccountsTable } from '../../../database/tables/service-accounts.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { serviceAccountsMax } from '../../../kernel/limits/identity.ts'
import { caseless } from '../../../kernel/names.ts'
import { grantedAuthority, parseActions, refuseBeyondCeiling } from './authority.ts'
import { type Binding, bound, parseBindings, permissionsOf, shownBindings } from './bindings.ts'
import {
  findServiceAccountRow,
  insertServiceAccount,
  listDelegatedAccountRows,
  listServiceAccountRows,
  lockServiceAccount,
  updateServiceAccount,
} from './service-accounts.queries.ts'

export interface ServiceAccountDeps {
  readonly database: Database
  readonly clock: Clock
}

export interface ServiceAccount {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  readonly revision: number
  readonly bindings: Binding[]
  readonly createdAt: string
}

const toServiceAccounts = async (q: Queries, rows: readonly ServiceAccountsTable[]): Promise<ServiceAccount[]> => {
  const bindings = await shownBindings(
    q,
    rows.map((row) => row.bindings),
  )
  return rows.map((row, at) => ({
    id: row.id,
    name: row.name,
    enabled: row.enabled === 1,
    revision: row.revision,
    bindings: bindings[at] ?? [],
    createdAt: row.created_at,
  }))
}

const toServiceAccount = async (q: Queries, row: ServiceAccountsTable): Promise<ServiceAccount> => {
  const [account] = await toServiceAccounts(q, [row])
  if (account === undefined) throw new Error('a row has become no account')
  return account
}

/** The accounts that the caller may see, ordered by id: all, those delegated for reading, or none. */
export const visibleServiceAccounts = async (
  { database }: ServiceAccountDeps,
  caller: Caller,
  after: string,
  limit: number,
): Promise<ServiceAccount[]> => {
  if (caller.kind === 'file-key')
    return caller.serviceAdministrator
      ? toServiceAccounts(database.reader, await listServiceAccountRows(database.reader, after, limit))
      : []
  if (caller.kind !== 'service-key') return []
  // At most 64 delegations a key: filtering after the query keeps pages short, never unbounded.
  const rows = await listDelegatedAccountRows(database.reader, caller.keyId, after, delegationsShown)
  const readable = rows.filter((row) => parseActions(row.actions).includes('service-account.read'))
  return toServiceAccounts(database.reader, readable.slice(0, limit))
}

const delegationsShown = 64

export const serviceAccountById = async ({ database }: ServiceAccountDeps, id: string): Promise<ServiceAccount> => {
  const row = await findServiceAccountRow(database.reader, id)
  if (row === undefined) throw notFound('service account')
  return toServiceAccount(database.reader, row)
}

/**
 * Creates an enabled account with its policy, revision 1. 409 `already_exists`, 507 `service_account_limit` at 1,000.
 */
export const createServiceAccount = (
  { database, clock }: ServiceAccountDeps,
  wanted: { name: string; bindings: Binding[] },
  actor: Actor,
): Promise<ServiceAccount> =>
  changeAuthority(database, actor, async (tx) => {
    const nowMs = clock.now()
    const count = await moveCounter(tx, 'service_accounts', 1)
    const row: ServiceAccountsTable = {
      id: newId(nowMs),
      name: wanted.name,
      name_key: caseless(wanted.name),
      enabled: 1,
      revision: 1,
      bindings: JSON.stringify(await bound(tx, wanted.bindings)),
      created_at: timestamp(nowMs),
    }
    if (!(await insertServiceAccount(tx, row)))
      throw new Failure('already_exists', `A service account named ${JSON.stringify(wanted.name)} exists.`)
    if (count > serviceAccountsMax)
      throw new Failure('service_account_limit', `The server has its ${serviceAccountsMax} service accounts already.`)
    await audit(tx, actor, 'service-account.create', row.id, row.created_at)
    return toServiceAccount(tx, row)
  })

/** Locks an account until the end of the transaction, as everyone does who changes it. */
export const lockServiceAccountRow = async (tx: Transaction, id: string): Promise<void> => {
  await lockServiceAccount(tx, id)
}

const lockRevision = async (tx: Transaction, id: string, expectedRevision: number): Promise<ServiceAccountsTable> => {
  const row = await lockServiceAccount(tx, id)
  if (row === undefined) throw notFound('service account')
  if (row.revision !== expectedRevision)
    throw new Failure('revision_mismatch', `The service account is at revision ${row.revision}; read it again.`)
  return row
}

/** Enables or disables. A delegate may do so only where it could have handed out the whole policy itself. */
export const setServiceAccountEnabled = (
  { database, clock }: ServiceAccountDeps,
  id: string,
  change: { expectedRevision: number; enabled: boolean },
  actor: Actor,
): Promise<ServiceAccount> =>
  changeAuthority(database, actor, async (tx, caller) => {
    const authority = await grantedAuthority(tx, caller, id)
    const row = await lockRevision(tx, id, change.expectedRevision)
    refuseBeyondCeiling(authority, permissionsOf(parseBindings(row.bindings)), 'The policy of this account')
    const after = { enabled: change.enabled ? 1 : 0, revision: row.revision + 1 } as const
    await updateServiceAccount(tx, id, after)
    const action = change.enabled ? 'service-account.enable' : 'service-account.disable'
    await audit(tx, actor, action, id, timestamp(clock.now()))
    return toServiceAccount(tx, { ...row, ...after })
  })

/** Replaces the policy; what is taken away is gone at the next request of every key. */
export const replacePolicy = (
  { database, clock }: ServiceAccountDeps,
  id: string,
  change: { expectedRevision: number; bindings: Binding[] },
  actor: Actor,
): Promise<ServiceAccount> =>
  changeAuthority(database, actor, async (tx, caller) => {
    const authority = await grantedAuthority(tx, caller, id)
    const row = await lockRevision(tx, id, change.expectedRevision)
    refuseBeyondCeiling(authority, permissionsOf(parseBindings(row.bindings)), 'The current policy of this account')
    const bindings = await bound(tx, change.bindings)
    refuseBeyondCeiling(authority, permissionsOf(bindings), 'The new policy')
    const after = { bindings: JSON.stringify(bindings), revision: row.revision + 1 }
    await updateServiceAccount(tx, id, after)
    await audit(tx, actor, 'policy.replace', id, timestamp(clock.now()))
    return toServiceAccount(tx, { ...row, ...after })
  })

const audit = (tx: Transaction, actor: Actor, action: string, id: string, occurredAt: string): Promise<void> =>
  appendSecurityAudit(tx, actor, { action, subject: `service-account:${id}`, serviceAccountId: id, occurredAt })
