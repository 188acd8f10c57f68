import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'

export interface AssetRow {
  readonly path: string
  readonly revision: number
  readonly artifact_id: string
}

/** Current revisions from a path on, in the order of their bytes, below `end` if there is one. */
export const listAssetRows = (
  q: Queries,
  repository: string,
  range: { from: string; inclusive: boolean; end: string | null },
  limit: number,
): Promise<AssetRow[]> => {
  const query = q
    .selectFrom('assets')
    .select(['path', 'revision', 'artifact_id'])
    .where('repository', '=', repository)
    .where('path', range.inclusive ? '>=' : '>', range.from)
    .orderBy('path')
    .limit(limit)
  return (range.end === null ? query : query.where('path', '<', range.end)).execute()
}

export const findAssetRow = (q: Queries, repository: string, path: string): Promise<AssetRow | undefined> =>
  q
    .selectFrom('assets')
    .select(['path', 'revision', 'artifact_id'])
    .where('repository', '=', repository)
    .where('path', '=', path)
    .executeTakeFirst()

const assetContent = prepareQuery((q, p: Parameters<{ repository: string; path: string }>) =>
  q
    .selectFrom('assets')
    .innerJoin('artifacts', 'artifacts.id', 'assets.artifact_id')
    .innerJoin('asset_revisions', (join) =>
      join
        .onRef('asset_revisions.repository', '=', 'assets.repository')
        .onRef('asset_revisions.path', '=', 'assets.path')
        .onRef('asset_revisions.revision', '=', 'assets.revision'),
    )
    .select(['assets.revision', 'artifacts.id as artifact_id', 'artifacts.name', 'artifacts.size', 'artifacts.sha256'])
    .select(['asset_revisions.created_at', 'asset_revisions.media_type'])
    .where('assets.repository', '=', p('repository'))
    .where('assets.path', '=', p('path')),
)

/** The current revision of a path with the file behind it, in one read. */
export const findAssetContent = async (q: Queries, repository: string, path: string) =>
  (await assetContent(q, { repository, path }))[0]

export interface RevisionRow {
  readonly repository: string
  readonly path: string
  readonly revision: number
  readonly artifact_id: string
  readonly actor: string
  readonly created_at: string
  readonly source_revision: number | null
  readonly removed: 0 | 1
  readonly media_type: string | null
}

export const addToHistory = prepareQuery((q, p: Parameters<RevisionRow>) =>
  q.insertInto('asset_revisions').values({
    repository: p('repository'),
    path: p('path'),
    revision: p('revision'),
    artifact_id: p('artifact_id'),
    actor: p('actor'),
    created_at: p('created_at'),
    source_revision: p('source_revision'),
    removed: p('removed'),
    media_type: p('media_type'),
  }),
)

const makeCurrent = prepareQuery((q, p: Parameters<AssetRow & { repository: string; oldest: number }>) =>
  q
    .insertInto('assets')
    .values({
      repository: p('repository'),
      path: p('path'),
      revision: p('revision'),
      artifact_id: p('artifact_id'),
      oldest: p('oldest'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['repository', 'path'])
        .doUpdateSet((eb) => ({ revision: eb.ref('excluded.revision'), artifact_id: eb.ref('excluded.artifact_id') })),
    ),
)

/**
 * Makes a revision the current one and keeps it in the history, of which `oldest` is the oldest where the path shows
 * nothing yet.
 */
export const insertRevision = async (tx: Transaction, row: RevisionRow, oldest: number): Promise<void> => {
  const { repository, path, revision, artifact_id } = row
  await addToHistory(tx, row)
  await makeCurrent(tx, { repository, path, revision, artifact_id, oldest })
}
