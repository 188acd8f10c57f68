import type { Queries, Transaction } from '../../database/database.ts'

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

/** The current revision of a path with the file behind it, in one read. */
export const findAssetContent = (q: Queries, repository: string, path: string) =>
  q
    .selectFrom('assets')
    .innerJoin('artifacts', 'artifacts.id', 'assets.artifact_id')
    .select(['assets.revision', 'artifacts.id as artifact_id', 'artifacts.name', 'artifacts.size', 'artifacts.sha256'])
    .where('assets.repository', '=', repository)
    .where('assets.path', '=', path)
    .executeTakeFirst()

/** Serialises changes of the paths of a repository. */
export const lockRepository = (tx: Transaction, repository: string) =>
  tx
    .selectFrom('repositories')
    .select('id')
    .where('id', '=', repository)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()

export interface RevisionRow {
  readonly repository: string
  readonly path: string
  readonly revision: number
  readonly artifact_id: string
  readonly actor: string
  readonly created_at: string
  readonly source_revision: number | null
}

/** Makes a revision the current one and keeps it in the history. */
export const insertRevision = async (tx: Transaction, row: RevisionRow): Promise<void> => {
  const { repository, path, revision, artifact_id } = row
  await tx.insertInto('asset_revisions').values(row).execute()
  await tx
    .insertInto('assets')
    .values({ repository, path, revision, artifact_id })
    .onConflict((conflict) => conflict.columns(['repository', 'path']).doUpdateSet({ revision, artifact_id }))
    .execute()
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
