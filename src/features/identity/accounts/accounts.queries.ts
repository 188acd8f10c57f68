import type { Queries, Transaction } from '../../../database/database.ts'
import type { AccountsTable } from '../../../database/tables/accounts.ts'

export const listAccounts = (q: Queries, limit: number): Promise<AccountsTable[]> =>
  q.selectFrom('accounts').selectAll().orderBy('name_key').limit(limit).execute()

export const findAccountByNameKey = (q: Queries, nameKey: string): Promise<AccountsTable | undefined> =>
  q.selectFrom('accounts').selectAll().where('name_key', '=', nameKey).executeTakeFirst()

export const findAccount = (q: Queries, id: string): Promise<AccountsTable | undefined> =>
  q.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()

/** False when the hash is not the one that was checked. */
export const replacePasswordHash = async (tx: Transaction, id: string, from: string, to: string): Promise<boolean> => {
  const result = await tx
    .updateTable('accounts')
    .set({ password_hash: to })
    .where('id', '=', id)
    .where('password_hash', '=', from)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** False when the name is taken. */
export const insertAccount = async (tx: Transaction, row: AccountsTable): Promise<boolean> => {
  const inserted = await tx
    .insertInto('accounts')
    .values(row)
    .onConflict((conflict) => conflict.column('name_key').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export const updateAccount = (
  tx: Transaction,
  id: string,
  to: Partial<Pick<AccountsTable, 'enabled' | 'password_hash'>>,
): Promise<AccountsTable | undefined> =>
  tx.updateTable('accounts').set(to).where('id', '=', id).returningAll().executeTakeFirst()

/** What is counted, by the name of its counter. */
export const countedTables = [
  ['accounts', 'accounts'],
  ['groups', 'access_groups'],
  ['memberships', 'group_members'],
  ['grants', 'group_grants'],
  ['service_accounts', 'service_accounts'],
] as const

export const countOf = async (q: Queries, table: (typeof countedTables)[number][1]): Promise<number> =>
  Number(
    (
      await q
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )
