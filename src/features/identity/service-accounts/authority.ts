import type { Queries } from '../../../database/database.ts'
import { type AdministrationAction, administrationActions, isAdministrationAction } from '../../../kernel/actions.ts'
import type { Caller, RepositoryPermissions } from '../../../kernel/caller.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { parseBindings, permissionsOf, within } from './bindings.ts'
import { findDelegation, findServiceAccountRow } from './service-accounts.queries.ts'

/** What a caller may do with one service account: everything, or what was delegated to its key. */
export interface Authority {
  readonly actions: ReadonlySet<AdministrationAction>
  /** What may be handed out at most; null without a bound. */
  readonly ceiling: RepositoryPermissions | null
  /** No key that is issued may outlive this; null without a bound. */
  readonly expiresAt: string | null
}

const full: Authority = { actions: new Set(administrationActions), ceiling: null, expiresAt: null }

export const parseActions = (json: string): AdministrationAction[] => {
  const parsed: unknown = JSON.parse(json)
  return Array.isArray(parsed) ? parsed.filter(isAdministrationAction) : []
}

/** The caller's authority over a service account; null when the account is none of its business. */
const authorityOver = async (q: Queries, caller: Caller, accountId: string): Promise<Authority | null> => {
  if (caller.kind === 'file-key') return caller.serviceAdministrator ? full : null
  if (caller.kind !== 'service-key' || caller.pending) return null
  const delegation = await findDelegation(q, caller.keyId, accountId)
  if (delegation === undefined) return null
  return {
    actions: new Set(parseActions(delegation.actions)),
    ceiling: permissionsOf(parseBindings(delegation.ceiling)),
    expiresAt: caller.expiresAt,
  }
}

/**
 * Why the caller may not administrate the account so; null if it may. An account that is not the caller's business, and
 * one that does not exist, are 404; an action that was not delegated is 403.
 */
export const administrationRefusal = async (
  q: Queries,
  caller: Caller,
  action: AdministrationAction,
  accountId: string,
): Promise<Failure | null> => {
  const authority = await authorityOver(q, caller, accountId)
  if (authority === null || (await findServiceAccountRow(q, accountId)) === undefined)
    return notFound('service account')
  if (authority.actions.has(action)) return null
  return new Failure('permission_missing', `This needs the action ${action} on this service account.`)
}

/** The authority of a caller that was asked in this transaction. */
export const grantedAuthority = async (q: Queries, caller: Caller | null, accountId: string): Promise<Authority> => {
  const authority = caller === null ? null : await authorityOver(q, caller, accountId)
  if (authority === null) throw notFound('service account')
  return authority
}

/** 403 `ceiling_exceeded` unless everything in `permissions` may be handed out. */
export const refuseBeyondCeiling = (authority: Authority, permissions: RepositoryPermissions, what: string): void => {
  if (authority.ceiling === null || within(permissions, authority.ceiling)) return
  throw new Failure('ceiling_exceeded', `${what} goes beyond what was delegated to your key.`)
}
