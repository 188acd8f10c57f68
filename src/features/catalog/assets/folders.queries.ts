import type { Queries } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'

const pathsFrom = prepareQuery((q, p: Parameters<{ repository: string; from: string; limit: number }>) =>
  q
    .selectFrom('assets')
    .select('path')
    .where('repository', '=', p('repository'))
    .where('path', '>=', p('from'))
    .orderBy('path')
    .limit(p('limit')),
)

/** The next paths from one on, in the order of their bytes. */
export const nextPaths = async (q: Queries, repository: string, from: string, limit: number): Promise<string[]> =>
  (await pathsFrom(q, { repository, from, limit })).map(({ path }) => path)

/** What paths show, with who made it so and when. */
export const listedFiles = (q: Queries, repository: string, paths: readonly string[]) =>
  q
    .selectFrom('assets')
    .innerJoin('artifacts', 'artifacts.id', 'assets.artifact_id')
    .innerJoin('asset_revisions', (join) =>
      join
        .onRef('asset_revisions.repository', '=', 'assets.repository')
        .onRef('asset_revisions.path', '=', 'assets.path')
        .onRef('asset_revisions.revision', '=', 'assets.revision'),
    )
    .select(['assets.path', 'assets.revision', 'assets.artifact_id', 'artifacts.size', 'artifacts.sha256'])
    .select(['asset_revisions.actor', 'asset_revisions.created_at', 'asset_revisions.media_type'])
    .where('assets.repository', '=', repository)
    .where('assets.path', 'in', paths)
    .orderBy('assets.path')
    .execute()
