import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { SessionsTable } from '../../../database/tables/accounts.ts'

export const insertSession = async (tx: Transaction, row: SessionsTable): Promise<void> => {
  await tx.insertInto('sessions').values(row).execute()
}

const sessionsWithAccounts = (q: Queries) =>
  q
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select([
      'sessions.id as session_id',
      'sessions.secret_sha256',
      'sessions.expires_at',
      'accounts.id as account_id',
      'accounts.name',
      'accounts.administrator',
      'accounts.enabled',
    ])

const sessionBySecret = prepareQuery(
  (q, p: Parameters<{ digest: string }>) => sessionsWithAccounts(q).where('sessions.secret_sha256', '=', p('digest')),
  { planned: 'once' },
)
const sessionById = prepareQuery(
  (q, p: Parameters<{ id: string }>) => sessionsWithAccounts(q).where('sessions.id', '=', p('id')),
  { planned: 'once' },
)

/** The session of a secret with its account, expired or not. */
export const findSessionBySecret = async (q: Queries, digest: string) => (await sessionBySecret(q, { digest }))[0]

/** The same, by the id of the session. */
export const findSessionById = async (q: Queries, id: string) => (await sessionById(q, { id }))[0]

export const findSessionOpenedFor = (q: Queries, openedFor: string) =>
  q.selectFrom('sessions').select(['id', 'account_id']).where('opened_for', '=', openedFor).executeTakeFirst()

/** Ends all but the newest sessions of an account. */
export const deleteSessionsBeyond = async (tx: Transaction, accountId: string, keep: number): Promise<void> => {
  const newest = tx
    .selectFrom('sessions')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(keep)
  await tx.deleteFrom('sessions').where('account_id', '=', accountId).where('id', 'not in', newest).execute()
}

/** Those that have not expired, newest first. */
export const sessionRowsOf = (q: Queries, accountId: string, now: string) =>
  q
    .selectFrom('sessions')
    .select(['id', 'created_at', 'expires_at'])
    .where('account_id', '=', accountId)
    .where('expires_at', '>', now)
    .orderBy('id', 'desc')
    .execute()

export const deleteSession = async (tx: Transaction, id: string, accountId: string): Promise<boolean> => {
  const result = await tx
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

export const deleteSessionsOf = async (tx: Transaction, accountId: string): Promise<void> => {
  await tx.deleteFrom('sessions').where('account_id', '=', accountId).execute()
}

export const deleteSessionsEndedBefore = async (tx: Transaction, before: string, limit: number): Promise<number> => {
  const ended = tx.selectFrom('sessions').select('id').where('expires_at', '<', before).limit(limit)
  const result = await tx.deleteFrom('sessions').where('id', 'in', ended).executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Serialises sign-ins of one account, so that the count of its sessions holds. */
export const lockAccount = (tx: Transaction, id: string) =>
  tx
    .selectFrom('accounts')
    .select(['id', 'enabled', 'password_hash'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

export const accountExists = async (q: Queries, id: string): Promise<boolean> =>
  (await q.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
