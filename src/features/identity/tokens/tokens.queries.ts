import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { PersonalTokensTable } from '../../../database/tables/personal-tokens.ts'

/** Active tokens first, then ended ones; the newest first in both. */
export const listTokenRows = (
  q: Queries,
  accountId: string,
  now: string,
  limit: number,
): Promise<PersonalTokensTable[]> =>
  q
    .selectFrom('personal_tokens')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy(sql`case when revoked_at is null and expires_at > ${now} then 0 else 1 end`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

export const countActive = async (tx: Transaction, accountId: string, now: string): Promise<number> => {
  const row = await tx
    .selectFrom('personal_tokens')
    .select((eb) => eb.fn.countAll().as('n'))
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(row.n)
}

export const insertToken = async (tx: Transaction, row: PersonalTokensTable): Promise<void> => {
  await tx.insertInto('personal_tokens').values(row).execute()
}

const tokensWithAccounts = (q: Queries) =>
  q
    .selectFrom('personal_tokens')
    .innerJoin('accounts', 'accounts.id', 'personal_tokens.account_id')
    .select([
      'personal_tokens.id as token_id',
      'personal_tokens.secret_sha256',
      'personal_tokens.scope',
      'personal_tokens.expires_at',
      'personal_tokens.last_used_at',
      'personal_tokens.revoked_at',
      'personal_tokens.by_sign_in',
      'accounts.id as account_id',
      'accounts.name',
      'accounts.enabled',
    ])

const tokenBySecret = prepareQuery(
  (q, p: Parameters<{ digest: string }>) =>
    tokensWithAccounts(q).where('personal_tokens.secret_sha256', '=', p('digest')),
  { planned: 'once' },
)
const tokenById = prepareQuery(
  (q, p: Parameters<{ id: string }>) => tokensWithAccounts(q).where('personal_tokens.id', '=', p('id')),
  { planned: 'once' },
)

/** The token of a secret with its account, whatever state both are in. */
export const findTokenBySecret = async (q: Queries, digest: string) => (await tokenBySecret(q, { digest }))[0]

/** The same, by the id of the token. */
export const findTokenById = async (q: Queries, id: string) => (await tokenById(q, { id }))[0]

export const findTokenRow = (tx: Transaction, accountId: string, id: string) =>
  tx
    .selectFrom('personal_tokens')
    .select(['id', 'revoked_at'])
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

export const setRevoked = async (tx: Transaction, id: string, now: string): Promise<void> => {
  await tx.updateTable('personal_tokens').set({ revoked_at: now }).where('id', '=', id).execute()
}

export const revokeAllOf = async (tx: Transaction, accountId: string, now: string): Promise<void> => {
  await tx
    .updateTable('personal_tokens')
    .set({ revoked_at: now })
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .execute()
}

export const setLastUsed = async (tx: Transaction, id: string, now: string): Promise<void> => {
  await tx.updateTable('personal_tokens').set({ last_used_at: now }).where('id', '=', id).execute()
}

/** Tokens that expired or were revoked before. A revoked one is forgotten once it would have expired, too. */
export const deleteTokensEndedBefore = async (tx: Transaction, before: string, limit: number): Promise<number> => {
  const ended = tx.selectFrom('personal_tokens').select('id').where('expires_at', '<', before).limit(limit)
  const result = await tx.deleteFrom('personal_tokens').where('id', 'in', ended).executeTakeFirst()
  return Number(result.numDeletedRows)
}
