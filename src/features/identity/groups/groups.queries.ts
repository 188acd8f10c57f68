import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { Access } from '../../../kernel/actions.ts'

export const listGroupRows = (q: Queries, limit: number) =>
  q.selectFrom('access_groups').select(['id', 'name']).orderBy('name_key').limit(limit).execute()

export const findGroupRow = (q: Queries, id: string) =>
  q.selectFrom('access_groups').select(['id', 'name']).where('id', '=', id).executeTakeFirst()

/** Locks the group against being deleted meanwhile. */
export const lockGroup = (tx: Transaction, id: string) =>
  tx.selectFrom('access_groups').select(['id', 'name']).where('id', '=', id).forUpdate().executeTakeFirst()

export const findGroupByNameKey = (tx: Transaction, nameKey: string) =>
  tx.selectFrom('access_groups').select(['id', 'name']).where('name_key', '=', nameKey).executeTakeFirst()

export const membersOf = (q: Queries, groupIds: string[]) =>
  q
    .selectFrom('group_members')
    .innerJoin('accounts', 'accounts.id', 'group_members.account_id')
    .select(['group_id', 'account_id', 'accounts.name'])
    .where('group_id', 'in', groupIds)
    .orderBy('account_id')
    .execute()

export const grantsOfGroups = (q: Queries, groupIds: string[]) =>
  q
    .selectFrom('group_grants')
    .select(['group_id', 'repository', 'access'])
    .where('group_id', 'in', groupIds)
    .orderBy('repository')
    .execute()

export const insertGroup = async (
  tx: Transaction,
  row: { id: string; name: string; name_key: string; created_at: string },
): Promise<boolean> => {
  const inserted = await tx
    .insertInto('access_groups')
    .values(row)
    .onConflict((conflict) => conflict.column('name_key').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Deletes a group with its memberships and grants; returns how many there were. */
export const deleteGroupRows = async (
  tx: Transaction,
  id: string,
): Promise<{ memberships: number; grants: number }> => {
  const members = await tx.deleteFrom('group_members').where('group_id', '=', id).executeTakeFirst()
  const grants = await tx.deleteFrom('group_grants').where('group_id', '=', id).executeTakeFirst()
  await tx.deleteFrom('access_groups').where('id', '=', id).execute()
  return { memberships: Number(members.numDeletedRows), grants: Number(grants.numDeletedRows) }
}

export const insertMember = async (tx: Transaction, groupId: string, accountId: string): Promise<boolean> => {
  const inserted = await tx
    .insertInto('group_members')
    .values({ group_id: groupId, account_id: accountId })
    .onConflict((conflict) => conflict.columns(['group_id', 'account_id']).doNothing())
    .returning('group_id')
    .executeTakeFirst()
  return inserted !== undefined
}

export const deleteMember = async (tx: Transaction, groupId: string, accountId: string): Promise<boolean> => {
  const result = await tx
    .deleteFrom('group_members')
    .where('group_id', '=', groupId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

export const findGrant = (tx: Transaction, groupId: string, repository: string) =>
  tx
    .selectFrom('group_grants')
    .select('access')
    .where('group_id', '=', groupId)
    .where('repository', '=', repository)
    .executeTakeFirst()

export const putGrant = async (tx: Transaction, groupId: string, repository: string, access: Access): Promise<void> => {
  await tx
    .insertInto('group_grants')
    .values({ group_id: groupId, repository, access })
    .onConflict((conflict) => conflict.columns(['group_id', 'repository']).doUpdateSet({ access }))
    .execute()
}

export const deleteGrant = async (tx: Transaction, groupId: string, repository: string): Promise<boolean> => {
  const result = await tx
    .deleteFrom('group_grants')
    .where('group_id', '=', groupId)
    .where('repository', '=', repository)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Grants of an account on one repository, through all its groups. */
export const accessRows = prepareQuery(
  (q, p: Parameters<{ accountId: string; repository: string }>) =>
    q
      .selectFrom('group_members')
      .innerJoin('group_grants', 'group_grants.group_id', 'group_members.group_id')
      .select('group_grants.access')
      .where('group_members.account_id', '=', p('accountId'))
      .where('group_grants.repository', '=', p('repository')),
  { planned: 'once' },
)

/** The strongest grant of an account on each repository, ordered by id; 'write' sorts after 'read'. */
export const accessByRepository = (q: Queries, accountId: string, after: string, limit: number) =>
  q
    .selectFrom('group_members')
    .innerJoin('group_grants', 'group_grants.group_id', 'group_members.group_id')
    .select((eb) => ['group_grants.repository', eb.fn.max('group_grants.access').as('access')])
    .where('group_members.account_id', '=', accountId)
    .where('group_grants.repository', '>', after)
    .groupBy('group_grants.repository')
    .orderBy('group_grants.repository')
    .limit(limit)
    .execute()

/** The groups through which an account has access to one repository, ordered by name. */
export const groupsGiving = (q: Queries, accountId: string, repository: string) =>
  q
    .selectFrom('group_grants')
    .innerJoin('group_members', 'group_members.group_id', 'group_grants.group_id')
    .innerJoin('access_groups', 'access_groups.id', 'group_grants.group_id')
    .select(['access_groups.id', 'access_groups.name', 'group_grants.access'])
    .where('group_grants.repository', '=', repository)
    .where('group_members.account_id', '=', accountId)
    .orderBy('access_groups.name_key')
    .execute()

/** Enabled accounts that a group gives something in a repository, after an id and ordered by id. */
export const accountsWithAccess = (q: Queries, repository: string, after: string, limit: number) =>
  q
    .selectFrom('accounts')
    .select(['accounts.id', 'accounts.name', 'accounts.administrator', 'accounts.enabled'])
    .where('accounts.id', '>', after)
    .where('accounts.enabled', '=', 1)
    .where('accounts.id', 'in', (eb) =>
      eb
        .selectFrom('group_grants')
        .innerJoin('group_members', 'group_members.group_id', 'group_grants.group_id')
        .select('group_members.account_id')
        .where('group_grants.repository', '=', repository),
    )
    .orderBy('accounts.id')
    .limit(limit)
    .execute()
