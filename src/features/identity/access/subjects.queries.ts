import type { Queries } from '../../../database/database.ts'

export const accountsCalled = (q: Queries, id: string, nameKey: string) =>
  q
    .selectFrom('accounts')
    .select(['id', 'name', 'administrator', 'enabled'])
    .where((eb) => eb.or([eb('id', '=', id), eb('name_key', '=', nameKey)]))
    .limit(2)
    .execute()

export const serviceAccountsCalled = (q: Queries, id: string, nameKey: string) =>
  q
    .selectFrom('service_accounts')
    .select(['id', 'name', 'enabled'])
    .where((eb) => eb.or([eb('id', '=', id), eb('name_key', '=', nameKey)]))
    .limit(2)
    .execute()

/** Enabled service accounts after an id, ordered by id. */
export const enabledServiceAccounts = (q: Queries, after: string, limit: number) =>
  q
    .selectFrom('service_accounts')
    .select(['id', 'name', 'enabled'])
    .where('id', '>', after)
    .where('enabled', '=', 1)
    .orderBy('id')
    .limit(limit)
    .execute()
