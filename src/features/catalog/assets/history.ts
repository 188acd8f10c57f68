import type { Queries } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { notFound } from '../../../kernel/failure.ts'
import { assetHistoryPage } from '../../../kernel/limits/catalog.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { findAssetContent } from './assets.queries.ts'
import type { AssetDeps } from './assets.ts'
import { findHistory } from './forgetting.queries.ts'
import { findRevisionRow, listRevisionRows } from './history.queries.ts'
import { nothingAt } from './nothing-at.ts'
import { findRemovedRow } from './removal.queries.ts'
import { type AssetRevision, addRevision, otherRevision, toRevision } from './revisions.ts'

/**
 * A page of what a path showed, newest first. 404 for a path that has no revision (any more); below its first one an
 * empty page.
 */
export const assetHistory = async (
  q: Queries,
  repository: string,
  path: string,
  before: number | undefined,
): Promise<Page<AssetRevision, number>> => {
  const rows = await listRevisionRows(q, repository, path, before ?? null, assetHistoryPage + 1)
  // What has a revision now had it a moment ago, got its first one since, or had it forgotten.
  if (rows.length === 0) {
    const history = await findHistory(q, repository, path)
    if (history === undefined || history.oldest > history.revision) throw await nothingAt(q, repository, path)
  }
  return pageOf(rows, assetHistoryPage, toRevision, ({ revision }) => revision)
}

/** 404 for a revision that never was, or was forgotten. */
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
 * Makes the file of an old revision the newest one, also of a path that was removed. 404 for a path or revision that
 * never was, was forgotten or shows nothing, 409 `revision_mismatch` when another revision than the expected one is
 * current: so a repetition of what succeeded is refused, not done twice.
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
    const current = await findAssetContent(tx, repository, path)
    const newest = (current ?? (await findRemovedRow(tx, repository, path)))?.revision
    if (newest === undefined) throw notFound('path')
    if (newest !== wanted.expectedRevision) throw otherRevision(path, newest)
    const source = await assetRevision(tx, repository, path, sourceRevision)
    if (source.removed) throw notFound('revision of this path that shows a file')
    // What a path ever showed cannot be deleted; were it gone, this is where it would show.
    const { id: artifactId } = await publishedArtifact(tx, repository, source.artifactId)
    const { mediaType = null } = source
    const change = { repository, path, artifactId, current, sourceRevision, mediaType, actor }
    return toRevision(await addRevision(tx, change, timestamp(clock.now())))
  })
