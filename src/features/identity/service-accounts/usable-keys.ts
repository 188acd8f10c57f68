import type { Queries } from '../../../database/database.ts'
import type { RepositoryPermissions, ServiceKeyCaller } from '../../../kernel/caller.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { effectivePermissions, parseBindings, permissionsOf } from './bindings.ts'
import { findServiceAccountRow } from './service-accounts.queries.ts'
import { usableKeyRows } from './service-keys.queries.ts'

/** A key that works, as the caller that it would be. */
export interface UsableKey {
  readonly name: string
  readonly caller: ServiceKeyCaller
}

/** Keys of an account that work at this moment, with what each may do: none while the account is disabled. */
export const usableKeys = async (q: Queries, accountId: string, nowMs: number): Promise<UsableKey[]> => {
  const account = await findServiceAccountRow(q, accountId)
  if (account?.enabled !== 1) return []
  return (await usableKeyRows(q, accountId, timestamp(nowMs))).map((row) => ({
    name: row.name,
    caller: {
      kind: 'service-key',
      credential: 'service-key',
      id: accountId,
      keyId: row.id,
      administrator: false,
      pending: false,
      expiresAt: row.expires_at,
      permissions: effectivePermissions(account.bindings, row.bindings),
    },
  }))
}

/** What the policy of an account lets its keys do at most. */
export const policyOf = async (q: Queries, accountId: string): Promise<RepositoryPermissions> => {
  const account = await findServiceAccountRow(q, accountId)
  return permissionsOf(account === undefined ? [] : parseBindings(account.bindings))
}
