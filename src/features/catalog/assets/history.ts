import type { Queries } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import { assetHistoryPage } from '../../../kernel/limits/catalog.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { findAssetRow, type RevisionRow } from './assets.queries.ts'
import type { Asset, AssetDeps } from './assets.ts'
import { findRevisionRow, listRevisionRows } from './history.queries.ts'
import { addRevision, otherRevision } from './revisions.ts'

/** A revision with who made it and when; `sourceRevision` is the one that it brought back, if it did. */
export interface AssetRevision extends Asset {
  readonly actor: string | null
  readonly createdAt: string | null
  readonly sourceRevision: number | null
}

const toRevision = (row: RevisionRow): AssetRevision => ({
  path: row.path,
  revision: row.revision,
  artifactId: row.artifact_id,
  actor: row.actor,
  createdAt: row.created_at,
  sourceRevision: row.source_revision,
})

/** A page of what a path showed, newest first. 404 for a path that has no revision; below its first one an empty page. */
export const assetHistory = async (
  q: Queries,
  repository: string,
  path: string,
  before: number | undefined,
): Promise<Page<AssetRevision, number>> => {
  const rows = await listRevisionRows(q, repository, path, before ?? null, assetHistoryPage + 1)
  // Revisions are never removed: what has one now had it a moment ago, or got its first one since.
  if (rows.length === 0 && (await findAssetRow(q, repository, path)) === undefined) throw notFound('path')
  return pageOf(rows, assetHistoryPage, toRevision, ({ revision }) => revision)
}

/** 404 for a revision that never was. */
export const assetRevision = async (
  q: Queries,
  repository: string,
  path: string,
  revision: number,
): Promise<AssetRevision> => {
  const row = await findRevisionRow(q, repository, path, revision)
  if (row === undefined) throw notFound('revision of this path')
  return toRevision(row)
}

/**
 * Makes the file of an old revision the newest one. 404 for a path or revision that never was, 409 `revision_mismatch` when
 * another revision than the expected one is current: so a repetition of what succeeded is refused, not done twice.
 */
export const restoreAsset = (
  { database, clock }: AssetDeps,
  repository: string,
  wanted: { readonly path: string; readonly sourceRevision: number; readonly expectedRevision: number },
  actor: string,
): Promise<AssetRevision> =>
  database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    const { path, sourceRevision } = wanted
    const current = (await findAssetRow(tx, repository, path))?.revision
    if (current === undefined) throw notFound('path')
    if (current !== wanted.expectedRevision) throw otherRevision(path, current)
    const source = await assetRevision(tx, repository, path, sourceRevision)
    // What a path ever showed cannot be deleted; were it gone, this is where it would show.
    const { id: artifactId } = await publishedArtifact(tx, repository, source.artifactId)
    const change = { repository, path, artifactId, current, sourceRevision, actor }
    return toRevision(await addRevision(tx, change, timestamp(clock.now())))
  })
