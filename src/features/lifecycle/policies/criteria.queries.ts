import type { Queries } from '../../../database/database.ts'

/** Published files after one, in the order of their ids, each with the time of its publication. */
export const publicationsAfter = (q: Queries, repository: string, after: string, limit: number) =>
  q
    .selectFrom('artifacts')
    .select(['id', 'published_at'])
    .where('repository', '=', repository)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
