import type { Queries } from '../database/database.ts'

/** Tables of what has an id and a name. */
export type Named = 'accounts' | 'service_accounts' | 'access_groups' | 'service_keys'

export const namesIn = (q: Queries, table: Named, ids: readonly string[]): Promise<{ id: string; name: string }[]> =>
  q.selectFrom(table).select(['id', 'name']).where('id', 'in', ids).execute()

/** Accounts and service accounts that are called so, as journals call them. */
export const callersNamed = async (q: Queries, name: string): Promise<string[]> => {
  const [accounts, services] = await Promise.all([
    q.selectFrom('accounts').select('id').where('name_key', '=', name.toLowerCase()).execute(),
    q.selectFrom('service_accounts').select('id').where('name', '=', name).execute(),
  ])
  return [...accounts.map(({ id }) => `account:${id}`), ...services.map(({ id }) => `service-account:${id}`)]
}
