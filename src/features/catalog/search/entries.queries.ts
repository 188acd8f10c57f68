import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'
import { searchPathsIndexed } from '../../../kernel/limits/search.ts'

/** The first paths that show a file of `artifacts` now, in the order of their bytes: a JSON array. */
export const currentPaths = (q: Queries, limit: number) => {
  const list = engineOf(q) === 'sqlite' ? sql`json_group_array(path)` : sql`json_agg(path)::text`
  return sql<string>`coalesce((select ${list} from (
    select path from assets where artifact_id = artifacts.id order by path limit ${sql.lit(limit)}) as shown), '[]')`
}

/** What the row of a file says that never changes. */
export const fileColumns = [
  'artifacts.id',
  'artifacts.repository',
  'artifacts.name',
  'artifacts.size',
  'artifacts.sha256',
  'artifacts.created_at',
  'artifacts.published_at',
] as const

const described = (q: Queries) =>
  q
    .selectFrom('artifacts')
    .leftJoin('annotations', 'annotations.artifact_id', 'artifacts.id')
    .select((eb) => [
      ...fileColumns,
      eb.fn.coalesce('annotations.labels', 'artifacts.labels').as('labels'),
      eb.fn.coalesce('annotations.metadata', 'artifacts.metadata').as('metadata'),
      'annotations.collections',
      currentPaths(q, searchPathsIndexed + 1).as('paths'),
    ])

/**
 * Published files as they are described now, by their ids, in the order of those. Of paths there is one more than the
 * index takes, where there are more.
 */
export const describedFiles = (q: Queries, ids: readonly string[]) =>
  described(q).where('artifacts.id', 'in', ids).orderBy('artifacts.id').execute()

/** Paths that show a file now, so many of them, as a JSON array. */
export const pathsOfFile = async (q: Queries, id: string, limit: number): Promise<string> =>
  (await q.selectFrom('artifacts').select(currentPaths(q, limit).as('paths')).where('id', '=', id).executeTakeFirst())
    ?.paths ?? '[]'

/**
 * Published files as they are described now, after an id, with the text that search has of them. The page is taken
 * first: as one join, PostgreSQL would go through all that is said of other files, from the beginning, for each page.
 */
export const describedAfter = (q: Queries, after: string, limit: number) =>
  described(q)
    .leftJoin('search_entries', 'search_entries.artifact_id', 'artifacts.id')
    .select([
      'search_entries.text',
      'search_entries.paths as known_paths',
      'search_entries.repository as known_in',
      'search_entries.position',
    ])
    .where('artifacts.id', 'in', (eb) =>
      eb.selectFrom('artifacts as page').select('page.id').where('page.id', '>', after).orderBy('page.id').limit(limit),
    )
    .orderBy('artifacts.id')
    .execute()

export type DescribedRow = Pick<
  Awaited<ReturnType<typeof describedFiles>>[number],
  'id' | 'repository' | 'name' | 'sha256' | 'labels' | 'metadata' | 'collections' | 'paths'
>
