import { timingSafeEqual } from 'node:crypto'
import type { Queries } from '../../../database/database.ts'
import type { RepositoryPermissions, ServiceKeyCaller } from '../../../kernel/caller.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type NamedCredential, secretDigest } from '../sessions/secrets.ts'
import { effectivePermissions } from './bindings.ts'
import { findKeyWithAccount } from './service-keys.queries.ts'

const form = /^svc_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.[A-Za-z0-9_-]{1,128}$/

type Found = NonNullable<Awaited<ReturnType<typeof findKeyWithAccount>>>

/** Why a key lets nobody in, in words for the operator; null where it does. */
const whyNot = ({ state, enabled }: Found): string | null => {
  if (state === 'revoked') return 'revoked service key'
  return enabled === 1 ? null : 'disabled service account'
}

const isSecretOf = ({ secret_sha256 }: Found, secret: string): boolean =>
  timingSafeEqual(Buffer.from(secret_sha256), Buffer.from(secretDigest(secret)))

const noKey = (why: string, whose: Readonly<Record<string, string>>): Failure =>
  new Failure('credential_invalid', 'This service key does not exist, was revoked, or its account is disabled.', {
    forOperator: { why, ...whose },
  })

/** Whose key it is that was refused, as far as that is known. */
const named = (id: string | undefined, found: Found | undefined): Record<string, string> => ({
  ...(id === undefined ? {} : { key: id }),
  ...(found === undefined ? {} : { keyName: found.key_name, serviceAccount: found.account_name }),
})

/** The caller behind a service key, with what it may do at this very moment. */
export const callerOfServiceKey = async (q: Queries, secret: string, nowMs: number): Promise<ServiceKeyCaller> => {
  const id = form.exec(secret)?.[1]
  const found = id === undefined ? undefined : await findKeyWithAccount(q, id)
  if (found === undefined) throw noKey('unknown service key', named(id, found))
  if (!isSecretOf(found, secret)) throw noKey('wrong secret of a service key', named(id, found))
  return callerOf(found, nowMs)
}

/** Null for a key that does not exist. */
export const keyNamed = async (q: Queries, id: string, nowMs: number): Promise<NamedCredential | null> => {
  const found = await findKeyWithAccount(q, id)
  return found === undefined ? null : { sha256: found.secret_sha256, caller: () => callerOf(found, nowMs) }
}

const callerOf = (found: Found, nowMs: number): ServiceKeyCaller => {
  const whose = named(found.key_id, found)
  const why = whyNot(found)
  if (why !== null) throw noKey(why, whose)
  const pending = found.state === 'pending'
  const now = timestamp(nowMs)
  if (found.expires_at <= now || (pending && found.activation_expires_at <= now)) {
    const ended = pending
      ? `service key not activated by ${found.activation_expires_at}`
      : `service key expired at ${found.expires_at}`
    throw new Failure('token_expired', pending ? 'The key was not activated in time.' : 'The key has expired.', {
      forOperator: { why: ended, ...whose },
    })
  }
  return {
    kind: 'service-key',
    credential: 'service-key',
    id: found.account_id,
    keyId: found.key_id,
    administrator: false,
    pending,
    expiresAt: found.expires_at,
    permissions: effectivePermissions(found.policy, found.bindings),
  }
}

/** What a key may do at a moment, or why it may do nothing. For what goes on in its name while nobody calls with it. */
export const standingOfKey = async (
  q: Queries,
  keyId: string,
  nowMs: number,
): Promise<
  | { readonly permissions: RepositoryPermissions }
  | { readonly refused: 'key_revoked' | 'key_expired' | 'account_disabled' }
> => {
  const found = await findKeyWithAccount(q, keyId)
  if (found?.state !== 'active') return { refused: 'key_revoked' }
  if (found.expires_at <= timestamp(nowMs)) return { refused: 'key_expired' }
  if (found.enabled !== 1) return { refused: 'account_disabled' }
  return { permissions: effectivePermissions(found.policy, found.bindings) }
}
