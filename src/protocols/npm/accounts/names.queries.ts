import type { Queries } from '../../../database/database.ts'

export const nameOfServiceAccount = async (q: Queries, id: string): Promise<string | undefined> =>
  (await q.selectFrom('service_accounts').select('name').where('id', '=', id).executeTakeFirst())?.name

export const accountCalled = (q: Queries, nameKey: string) =>
  q
    .selectFrom('accounts')
    .select(['id', 'name'])
    .where('name_key', '=', nameKey)
    .where('enabled', '=', 1)
    .executeTakeFirst()

export const accountSince = async (q: Queries, id: string): Promise<string | undefined> =>
  (await q.selectFrom('accounts').select('created_at').where('id', '=', id).executeTakeFirst())?.created_at
