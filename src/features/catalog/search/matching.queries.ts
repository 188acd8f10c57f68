import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'
import { hitPathsMax } from '../../../kernel/limits/search.ts'
import { currentPaths, fileColumns } from './entries.queries.ts'

/** What to look for in what search has of files, and what else of them to tell. */
export interface Looked {
  readonly repository: string
  /** Folded, and '' where any will do: part of the text, and part of a path. */
  readonly needle: string
  readonly path: string
  readonly withMetadata: boolean
  readonly withPaths: boolean
}

/**
 * Published files of a repository by their ids, in the order of those, as far as what search has of them, folded, has
 * what is looked for. One statement sees all of a file. Texts and paths stay in the database, for they may be long:
 * metadata and the first paths come along only where they are asked for. `many` tells that a path is still to be looked
 * for among paths that are too many for the index.
 */
export const foundFiles = (
  q: Queries,
  ids: readonly string[],
  { repository, needle, path, withMetadata, withPaths }: Looked,
) => {
  const at = engineOf(q) === 'sqlite' ? sql.raw('instr') : sql.raw('strpos')
  return q
    .selectFrom('artifacts')
    .innerJoin('search_entries', 'search_entries.artifact_id', 'artifacts.id')
    .leftJoin('annotations', 'annotations.artifact_id', 'artifacts.id')
    .select((eb) => [
      ...fileColumns,
      eb.fn.coalesce('annotations.labels', 'artifacts.labels').as('labels'),
      withMetadata
        ? eb.fn.coalesce('annotations.metadata', 'artifacts.metadata').as('metadata')
        : sql<string>`'{}'`.as('metadata'),
      'annotations.collections',
      (withPaths ? currentPaths(q, hitPathsMax + 1) : sql<string>`'[]'`).as('paths'),
      sql<0 | 1>`case when search_entries.paths is null then 1 else 0 end`.as('many'),
    ])
    .where('artifacts.id', 'in', ids)
    .where('artifacts.repository', '=', repository)
    .where(sql<boolean>`${at}(search_entries.text, ${needle}) > 0`)
    .where(sql<boolean>`(search_entries.paths is null or ${at}(search_entries.paths, ${path}) > 0)`)
    .orderBy('artifacts.id')
    .execute()
}
