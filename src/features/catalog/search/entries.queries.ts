import type { Queries } from '../../../database/database.ts'

const described = (q: Queries) =>
  q
    .selectFrom('artifacts')
    .leftJoin('annotations', 'annotations.artifact_id', 'artifacts.id')
    .select((eb) => [
      'artifacts.id',
      'artifacts.repository',
      'artifacts.name',
      'artifacts.size',
      'artifacts.created_at',
      'artifacts.published_at',
      eb.fn.coalesce('annotations.labels', 'artifacts.labels').as('labels'),
      eb.fn.coalesce('annotations.metadata', 'artifacts.metadata').as('metadata'),
      'annotations.collections',
    ])

/** Published files as they are described now, by their ids, in the order of those. */
export const describedFiles = (q: Queries, ids: readonly string[]) =>
  described(q).where('artifacts.id', 'in', ids).orderBy('artifacts.id').execute()

/**
 * Published files as they are described now, after an id, with the text that search has of them. The page is taken
 * first: as one join, PostgreSQL would go through all that is said of other files, from the beginning, for each page.
 */
export const describedAfter = (q: Queries, after: string, limit: number) =>
  described(q)
    .leftJoin('search_entries', 'search_entries.artifact_id', 'artifacts.id')
    .select(['search_entries.text', 'search_entries.repository as known_in', 'search_entries.position'])
    .where('artifacts.id', 'in', (eb) =>
      eb.selectFrom('artifacts as page').select('page.id').where('page.id', '>', after).orderBy('page.id').limit(limit),
    )
    .orderBy('artifacts.id')
    .execute()

export type DescribedRow = Pick<
  Awaited<ReturnType<typeof describedFiles>>[number],
  'id' | 'repository' | 'name' | 'labels' | 'metadata' | 'collections'
>
