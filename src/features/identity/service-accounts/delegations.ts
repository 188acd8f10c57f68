import type { Queries } from '../../../database/database.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import { type AdministrationAction, administrationActions } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { delegationsPerKeyMax } from '../../../kernel/limits/identity.ts'
import { parseActions } from './authority.ts'
import { type Binding, bound, shownBindings } from './bindings.ts'
import {
  byAKey,
  deleteDelegationRow,
  findServiceAccountRow,
  listDelegationRows,
  putDelegationRow,
} from './service-accounts.queries.ts'
import type { ServiceAccountDeps } from './service-accounts.ts'
import { lockServiceKey } from './service-keys.queries.ts'

export interface Delegation {
  readonly accountId: string
  readonly actions: AdministrationAction[]
  readonly ceiling: Binding[]
}

export const delegationsOf = async (q: Queries, operatorKeyId: string): Promise<Delegation[]> => {
  const rows = await listDelegationRows(q, operatorKeyId)
  const ceilings = await shownBindings(
    q,
    rows.map((row) => row.ceiling),
  )
  return rows.map((row, at) => ({
    accountId: row.account_id,
    actions: parseActions(row.actions),
    ceiling: ceilings[at] ?? [],
  }))
}

/** What a caller may do with at least one service account. */
export const administeredActions = async (q: Queries, caller: Caller): Promise<ReadonlySet<AdministrationAction>> => {
  if (caller.kind === 'file-key') return new Set(caller.serviceAdministrator ? administrationActions : [])
  if (caller.kind !== 'service-key') return new Set()
  return new Set((await listDelegationRows(q, caller.keyId)).flatMap((row) => parseActions(row.actions)))
}

/**
 * Lets an operator key administrate a service account, or replaces what it may. Never its own account, and never a key
 * that an operator has issued (403 `ceiling_exceeded`); 409 `key_state` unless the key works; 507 `delegation_limit` at
 * 64 a key.
 */
export const putDelegation = (
  deps: ServiceAccountDeps,
  operatorKeyId: string,
  delegation: Delegation,
  actor: Actor,
): Promise<Delegation> =>
  changeAuthority(deps.database, actor, async (tx) => {
    const { accountId, actions, ceiling } = delegation
    const key = await lockServiceKey(tx, operatorKeyId)
    if (key === undefined) throw notFound('service key')
    if (key.requested_by.startsWith(byAKey))
      throw new Failure('ceiling_exceeded', 'A key that another service key has issued administrates nothing.')
    if (key.state !== 'active' || key.expires_at <= timestamp(deps.clock.now()))
      throw new Failure('key_state', 'Only an active key that has not expired can be given something to administrate.')
    if ((await findServiceAccountRow(tx, accountId)) === undefined) throw notFound('service account')
    if (key.account_id === accountId)
      throw new Failure('ceiling_exceeded', 'An operator key never administrates its own account.')
    const known = await listDelegationRows(tx, operatorKeyId)
    if (known.length >= delegationsPerKeyMax && !known.some((row) => row.account_id === accountId))
      throw new Failure('delegation_limit', `A key has at most ${delegationsPerKeyMax} delegations.`)
    await putDelegationRow(tx, {
      operator_key_id: operatorKeyId,
      account_id: accountId,
      actions: JSON.stringify(actions),
      ceiling: JSON.stringify(await bound(tx, ceiling)),
    })
    await appendSecurityAudit(tx, actor, {
      action: 'delegation.set',
      subject: `service-account:${accountId} operator-key:${operatorKeyId}`,
      serviceAccountId: accountId,
      occurredAt: timestamp(deps.clock.now()),
    })
    return delegation
  })

/** Ends a delegation; keys that were activated by it stay valid. Harmless when there is none. */
export const endDelegation = (
  deps: ServiceAccountDeps,
  operatorKeyId: string,
  accountId: string,
  actor: Actor,
): Promise<void> =>
  changeAuthority(deps.database, actor, async (tx) => {
    if ((await lockServiceKey(tx, operatorKeyId)) === undefined) throw notFound('service key')
    if (!(await deleteDelegationRow(tx, operatorKeyId, accountId))) return
    await appendSecurityAudit(tx, actor, {
      action: 'delegation.end',
      subject: `service-account:${accountId} operator-key:${operatorKeyId}`,
      serviceAccountId: accountId,
      occurredAt: timestamp(deps.clock.now()),
    })
  })
