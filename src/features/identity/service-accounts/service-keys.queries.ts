import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { ServiceKeysTable } from '../../../database/tables/service-accounts.ts'

export const findServiceKeyRow = (q: Queries, id: string): Promise<ServiceKeysTable | undefined> =>
  q.selectFrom('service_keys').selectAll().where('id', '=', id).executeTakeFirst()

const keyWithAccount = prepareQuery(
  (q, p: Parameters<{ id: string }>) =>
    q
      .selectFrom('service_keys')
      .innerJoin('service_accounts', 'service_accounts.id', 'service_keys.account_id')
      .select([
        'service_keys.id as key_id',
        'service_keys.account_id',
        'service_keys.name as key_name',
        'service_accounts.name as account_name',
        'service_keys.state',
        'service_keys.secret_sha256',
        'service_keys.bindings',
        'service_keys.expires_at',
        'service_keys.activation_expires_at',
        'service_accounts.enabled',
        'service_accounts.bindings as policy',
      ])
      .where('service_keys.id', '=', p('id')),
  { planned: 'once' },
)

/** A key with what its account allows at this moment. */
export const findKeyWithAccount = async (q: Queries, id: string) => (await keyWithAccount(q, { id }))[0]

export const lockServiceKey = (tx: Transaction, id: string): Promise<ServiceKeysTable | undefined> =>
  tx.selectFrom('service_keys').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

export const listServiceKeyRows = (
  q: Queries,
  accountId: string,
  after: string,
  limit: number,
): Promise<ServiceKeysTable[]> =>
  q
    .selectFrom('service_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

export const findKeyByRequest = (
  q: Queries,
  requestedBy: string,
  idempotencyKey: string,
): Promise<ServiceKeysTable | undefined> =>
  q
    .selectFrom('service_keys')
    .selectAll()
    .where('requested_by', '=', requestedBy)
    .where('idempotency_key', '=', idempotencyKey)
    .executeTakeFirst()

/** False when the requester used the Idempotency-Key meanwhile. */
export const insertServiceKey = async (tx: Transaction, row: ServiceKeysTable): Promise<boolean> => {
  const inserted = await tx
    .insertInto('service_keys')
    .values(row)
    .onConflict((conflict) => conflict.columns(['requested_by', 'idempotency_key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export const updateServiceKey = async (
  tx: Transaction,
  id: string,
  to: Partial<Pick<ServiceKeysTable, 'state' | 'expires_at' | 'superseded_at'>>,
): Promise<void> => {
  await tx.updateTable('service_keys').set(to).where('id', '=', id).execute()
}

const count = (rows: { n: number | string | bigint }): number => Number(rows.n)

/** Keys that wait for their activation and still may. */
export const countPending = async (tx: Transaction, accountId: string, now: string): Promise<number> =>
  count(
    await tx
      .selectFrom('service_keys')
      .select((eb) => eb.fn.countAll().as('n'))
      .where('account_id', '=', accountId)
      .where('state', '=', 'pending')
      .where('activation_expires_at', '>', now)
      .executeTakeFirstOrThrow(),
  )

/** Keys in use, without those that a successor is replacing. */
export const countActive = async (tx: Transaction, accountId: string, now: string): Promise<number> =>
  count(
    await tx
      .selectFrom('service_keys')
      .select((eb) => eb.fn.countAll().as('n'))
      .where('account_id', '=', accountId)
      .where('state', '=', 'active')
      .where('expires_at', '>', now)
      .where('superseded_at', 'is', null)
      .executeTakeFirstOrThrow(),
  )

/** Keys that still work although a successor has replaced them, the last one first. */
export const replacedKeys = (tx: Transaction, accountId: string, now: string) =>
  tx
    .selectFrom('service_keys')
    .select('id')
    .where('account_id', '=', accountId)
    .where('state', '=', 'active')
    .where('expires_at', '>', now)
    .where('superseded_at', 'is not', null)
    .orderBy('superseded_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

/** Active keys of an account that have not expired, ordered by id. */
export const usableKeyRows = (q: Queries, accountId: string, now: string): Promise<ServiceKeysTable[]> =>
  q
    .selectFrom('service_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('state', '=', 'active')
    .where('expires_at', '>', now)
    .orderBy('id')
    .execute()
