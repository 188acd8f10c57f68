import type { Queries, Transaction } from '../../../database/database.ts'
import type { DelegationsTable, ServiceAccountsTable } from '../../../database/tables/service-accounts.ts'
import { type Telling, tellable } from '../../../journal/telling.ts'
import type { Stretch } from '../../../kernel/sequence.ts'

export const findServiceAccountRow = (q: Queries, id: string): Promise<ServiceAccountsTable | undefined> =>
  q.selectFrom('service_accounts').selectAll().where('id', '=', id).executeTakeFirst()

export const lockServiceAccount = (tx: Transaction, id: string): Promise<ServiceAccountsTable | undefined> =>
  tx.selectFrom('service_accounts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

export const listServiceAccountRows = (q: Queries, after: string, limit: number): Promise<ServiceAccountsTable[]> =>
  q.selectFrom('service_accounts').selectAll().where('id', '>', after).orderBy('id').limit(limit).execute()

/** The accounts that an operator key has a delegation for, ordered by id. */
export const listDelegatedAccountRows = (q: Queries, operatorKeyId: string, after: string, limit: number) =>
  q
    .selectFrom('delegations')
    .innerJoin('service_accounts', 'service_accounts.id', 'delegations.account_id')
    .innerJoin('service_keys', 'service_keys.id', 'delegations.operator_key_id')
    .where('service_keys.requested_by', 'not like', `${byAKey}%`)
    .selectAll('service_accounts')
    .select('delegations.actions')
    .where('delegations.operator_key_id', '=', operatorKeyId)
    .where('service_accounts.id', '>', after)
    .orderBy('service_accounts.id')
    .limit(limit)
    .execute()

/** False when the name is taken. */
export const insertServiceAccount = async (tx: Transaction, row: ServiceAccountsTable): Promise<boolean> => {
  const inserted = await tx
    .insertInto('service_accounts')
    .values(row)
    .onConflict((conflict) => conflict.column('name_key').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export const updateServiceAccount = async (
  tx: Transaction,
  id: string,
  to: Partial<Pick<ServiceAccountsTable, 'enabled' | 'bindings'>> & { revision: number },
): Promise<void> => {
  await tx.updateTable('service_accounts').set(to).where('id', '=', id).execute()
}

/** How `requested_by` begins where a service key has issued a key. */
export const byAKey = 'service-key:'

/** Not where an operator has issued the key: nobody hands on what was given to it. */
export const findDelegation = (
  q: Queries,
  operatorKeyId: string,
  accountId: string,
): Promise<DelegationsTable | undefined> =>
  q
    .selectFrom('delegations')
    .innerJoin('service_keys', 'service_keys.id', 'delegations.operator_key_id')
    .selectAll('delegations')
    .where('operator_key_id', '=', operatorKeyId)
    .where('delegations.account_id', '=', accountId)
    .where('service_keys.requested_by', 'not like', `${byAKey}%`)
    .executeTakeFirst()

export const listDelegationRows = (q: Queries, operatorKeyId: string): Promise<DelegationsTable[]> =>
  q.selectFrom('delegations').selectAll().where('operator_key_id', '=', operatorKeyId).orderBy('account_id').execute()

export const putDelegationRow = async (tx: Transaction, row: DelegationsTable): Promise<void> => {
  await tx
    .insertInto('delegations')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['operator_key_id', 'account_id']).doUpdateSet({ actions: row.actions, ceiling: row.ceiling }),
    )
    .execute()
}

export const deleteDelegationRow = async (
  tx: Transaction,
  operatorKeyId: string,
  accountId: string,
): Promise<boolean> => {
  const result = await tx
    .deleteFrom('delegations')
    .where('operator_key_id', '=', operatorKeyId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** The history of an account and its keys, oldest first. */
export const serviceAuditRows = (
  database: Telling,
  accountId: string,
  { order, above, below }: Stretch,
  limit: number,
) =>
  tellable(database, (q) =>
    q
      .selectFrom('security_audit')
      .select(['sequence', 'occurred_at', 'actor', 'action', 'subject'])
      .where('service_account_id', '=', accountId)
      .where('sequence', '>', above)
      .where('sequence', '<', below)
      .orderBy('sequence', order)
      .limit(limit)
      .execute(),
  )
