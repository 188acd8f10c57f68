import type { Queries } from '../../../database/database.ts'
import type { RevisionRow } from './assets.queries.ts'

/** Revisions of a path below `before`, newest first. */
export const listRevisionRows = (
  q: Queries,
  repository: string,
  path: string,
  before: number | null,
  limit: number,
): Promise<RevisionRow[]> => {
  const query = q
    .selectFrom('asset_revisions')
    .selectAll()
    .where('repository', '=', repository)
    .where('path', '=', path)
    .orderBy('revision', 'desc')
    .limit(limit)
  return (before === null ? query : query.where('revision', '<', before)).execute()
}

export const findRevisionRow = (
  q: Queries,
  repository: string,
  path: string,
  revision: number,
): Promise<RevisionRow | undefined> =>
  q
    .selectFrom('asset_revisions')
    .selectAll()
    .where('repository', '=', repository)
    .where('path', '=', path)
    .where('revision', '=', revision)
    .executeTakeFirst()
