import type { SignInDeps } from '../../../features/identity/accounts/accounts.ts'
import { callerOfToken, type PersonalToken, revokeToken, tokensOf } from '../../../features/identity/tokens/tokens.ts'
import type { Actor } from '../../../journal/security-audit/security-audit.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { personalTokenDaysMax, personalTokenNameMaxCharacters } from '../../../kernel/limits/identity.ts'
import { npmPasswordTypedMaxCharacters } from '../../../kernel/limits/npm-accounts.ts'
import { isUuid } from '../../../kernel/names.ts'
import { day } from '../../../kernel/units.ts'
import { type Sent, sentText } from './sent.ts'
import { tokenForPassword } from './signing-in.ts'

/** A token as `npm token` shows it. */
export interface ShownToken {
  readonly key: string
  readonly token: string
  readonly name: string
  readonly created: string
  readonly updated: string
  readonly expires: string
  readonly readonly: boolean
  readonly cidr_whitelist: null
}

const shownToken = ({ id, prefix, name, createdAt, expiresAt, scope }: PersonalToken): ShownToken => ({
  key: id,
  token: prefix,
  name,
  created: createdAt,
  updated: createdAt,
  expires: expiresAt,
  readonly: scope === 'read',
  cidr_whitelist: null,
})

/** Those that are good. Keys of services have none. */
export const ownTokens = async (deps: SignInDeps, caller: Caller): Promise<ShownToken[]> => {
  if (caller.kind !== 'account') return []
  const now = timestamp(deps.clock.now())
  const all = await tokensOf(deps, caller.id)
  return all.filter(({ revoked, expiresAt }) => !revoked && expiresAt > now).map(shownToken)
}

/** What would bind a token, and cannot here: a token that is bound to nothing would be more than was asked for. */
const bounds = ['cidr_whitelist', 'packages', 'scopes', 'orgs'] as const

const refuseBounds = (wanted: Sent): void => {
  for (const name of bounds) {
    const value = wanted[name]
    if (Array.isArray(value) && value.length > 0)
      throw invalid(
        `/${name}`,
        'a personal token cannot be bound to that; a key of a service account has rights of its own',
      )
  }
}

/** When a token ends that is to last so many days. */
const endIn = (days: unknown, nowMs: number): string | null => {
  if (days === undefined || days === null) return null
  if (!Number.isSafeInteger(days) || Number(days) < 1 || Number(days) > personalTokenDaysMax)
    throw invalid('/expires', `must be a number of days, at most ${personalTokenDaysMax}`)
  return timestamp(nowMs + Number(days) * day)
}

/** Creates a token, as `npm token create` asks for it, by the password of whoever calls. */
export const createOwnToken = async (
  deps: SignInDeps,
  caller: Caller,
  wanted: Sent,
  clientAddress: string,
): Promise<ShownToken> => {
  if (caller.kind !== 'account') throw new Failure('permission_missing', 'Only people have personal tokens.')
  refuseBounds(wanted)
  const typed = { name: caller.name, password: sentText(wanted, 'password', npmPasswordTypedMaxCharacters) }
  const readsOnly = wanted['readonly'] === true || wanted['packages_and_scopes_permission'] === 'read-only'
  const created = await tokenForPassword(deps, typed, clientAddress, {
    name: wanted['name'] ? sentText(wanted, 'name', personalTokenNameMaxCharacters) : 'npm token',
    scope: readsOnly ? 'read' : 'read-write',
    expiresAt: endIn(wanted['expires'], deps.clock.now()),
  })
  return { ...shownToken(created), token: created.token }
}

/**
 * Revokes a token of the caller, by its key or by itself. A session revokes any; a token, which may lie in somebody
 * else's hands, no other than itself.
 */
export const revokeOwnToken = async (
  deps: SignInDeps & { readonly clock: Clock },
  caller: Caller,
  key: string,
  actor: Actor,
): Promise<void> => {
  if (caller.kind !== 'account') throw notFound('token')
  const lower = key.toLowerCase()
  const id = isUuid(lower) ? lower : await idOf(deps, key)
  if (caller.credential === 'personal-token' && id !== caller.credentialId)
    throw new Failure(
      'permission_missing',
      'A token revokes itself and no other. Sign in (svc login), and revoke it with svc token revoke.',
    )
  await revokeToken(deps, caller.id, id, actor)
}

const idOf = async ({ database, clock }: SignInDeps, secret: string): Promise<string> => {
  if (!secret.startsWith(prefixes.token)) throw notFound('token')
  return (await callerOfToken(database.reader, secret, clock.now())).caller.credentialId
}
