import type { Queries } from '../database/database.ts'

/** Tables of what has an id and a name. */
export type Named = 'accounts' | 'service_accounts' | 'access_groups' | 'service_keys'

export const namesIn = (q: Queries, table: Named, ids: readonly string[]): Promise<{ id: string; name: string }[]> =>
  q.selectFrom(table).select(['id', 'name']).where('id', 'in', ids).execute()
