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
    .select(['assets.revision', 'artifacts.id as artifact_id', 'artifacts.name', 'artifacts.size', 'artifacts.sha256'])
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
}

const addToHistory = prepareQuery((q, p: Parameters<RevisionRow>) =>
  q.insertInto('asset_revisions').values({
    repository: p('repository'),
    path: p('path'),
    revision: p('revision'),
    artifact_id: p('artifact_id'),
    actor: p('actor'),
    created_at: p('created_at'),
    source_revision: p('source_revision'),
  }),
)

const makeCurrent = prepareQuery((q, p: Parameters<AssetRow & { repository: string }>) =>
  q
    .insertInto('assets')
    .values({
      repository: p('repository'),
      path: p('path'),
      revision: p('revision'),
      artifact_id: p('artifact_id'),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['repository', 'path'])
        .doUpdateSet((eb) => ({ revision: eb.ref('excluded.revision'), artifact_id: eb.ref('excluded.artifact_id') })),
    ),
)

/** Makes a revision the current one and keeps it in the history. */
export const insertRevision = async (tx: Transaction, row: RevisionRow): Promise<void> => {
  const { repository, path, revision, artifact_id } = row
  await addToHistory(tx, row)
  await makeCurrent(tx, { repository, path, revision, artifact_id })
}

/** Paths whose current revision is not in the history, or not its newest. */
export const assetsBesideHistory = (q: Queries, limit: number) =>
  q
    .selectFrom('assets')
    .leftJoin('asset_revisions as own', (join) =>
      join
        .onRef('own.repository', '=', 'assets.repository')
        .onRef('own.path', '=', 'assets.path')
        .onRef('own.revision', '=', 'assets.revision')
        .onRef('own.artifact_id', '=', 'assets.artifact_id'),
    )
    .leftJoin('asset_revisions as newer', (join) =>
      join
        .onRef('newer.repository', '=', 'assets.repository')
        .onRef('newer.path', '=', 'assets.path')
        .onRef('newer.revision', '>', 'assets.revision'),
    )
    .select(['assets.repository', 'assets.path'])
    .where((eb) => eb.or([eb('own.path', 'is', null), eb('newer.path', 'is not', null)]))
    .limit(limit)
    .execute()
