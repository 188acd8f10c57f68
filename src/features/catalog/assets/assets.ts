import type { Database, Queries } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { assetListingMax } from '../../../kernel/limits/catalog.ts'
import { pathFault, prefixEnd } from '../../../kernel/names.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { type AssetRow, findAssetContent, findAssetRow, listAssetRows } from './assets.queries.ts'
import { pathCursor, pathOfCursor } from './cursor.ts'
import { nothingAt } from './nothing-at.ts'
import { findRemovedRow } from './removal.queries.ts'
import { addRevision, otherRevision } from './revisions.ts'

/** The current revision of a path. */
export interface Asset {
  readonly path: string
  readonly revision: number
  readonly artifactId: string
}

const toAsset = (row: AssetRow): Asset => ({ path: row.path, revision: row.revision, artifactId: row.artifact_id })

/** The path, if it is one; otherwise 400 at the given place. */
export const parsePath = (path: string, pointer: string): string => {
  const fault = pathFault(path)
  if (fault !== null) throw invalid(pointer, fault)
  return path
}

/** All current revisions under a literal prefix. 400 beyond 1,000: then it is time for pages. */
export const assetsUnder = async (q: Queries, repository: string, prefix: string): Promise<Asset[]> => {
  const range = { from: prefix, inclusive: true, end: prefixEnd(prefix) }
  const rows = await listAssetRows(q, repository, range, assetListingMax + 1)
  if (rows.length > assetListingMax)
    throw invalid('/query/prefix', `matches more than ${assetListingMax} paths; take /assets/page or a longer prefix`)
  return rows.map(toAsset)
}

/** A page of current revisions under a literal prefix, in the order of the paths' UTF-8 bytes. */
export const assetPage = async (
  q: Queries,
  repository: string,
  page: { prefix: string; after: string | undefined; limit: number },
): Promise<Page<Asset>> => {
  const { prefix, after, limit } = page
  const last = after === undefined ? null : pathOfCursor(repository, prefix, after)
  const range = { from: last ?? prefix, inclusive: last === null, end: prefixEnd(prefix) }
  const rows = await listAssetRows(q, repository, range, limit + 1)
  return pageOf(rows, limit, toAsset, (row) => pathCursor(repository, prefix, row.path))
}

/** 404 for a path that shows nothing. */
export const currentAsset = async (q: Queries, repository: string, path: string): Promise<Asset> => {
  const row = await findAssetRow(q, repository, path)
  if (row === undefined) throw await nothingAt(q, repository, path)
  return toAsset(row)
}

export interface AssetDeps {
  readonly database: Database
  readonly clock: Clock
}

/**
 * Points a path at a published file of the same repository. `expectedRevision` 0 creates, the current one replaces,
 * that which removed the path shows something there again, another one is 409 `revision_mismatch`.
 */
export const setAsset = (
  { database, clock }: AssetDeps,
  repository: string,
  wanted: { path: string; artifactId: string; expectedRevision: number; mediaType: string | null },
  actor: string,
): Promise<Asset> =>
  database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    const artifact = await publishedArtifact(tx, repository, wanted.artifactId)
    const current = await findAssetContent(tx, repository, wanted.path)
    if ((current?.revision ?? 0) !== wanted.expectedRevision) {
      const removed = current === undefined ? await findRemovedRow(tx, repository, wanted.path) : undefined
      if (removed?.revision !== wanted.expectedRevision)
        throw otherRevision(wanted.path, removed?.revision ?? current?.revision ?? 0)
    }
    const now = timestamp(clock.now())
    const { path, mediaType } = wanted
    const change = { repository, path, artifactId: artifact.id, current, sourceRevision: null, mediaType, actor }
    return toAsset(await addRevision(tx, change, now))
  })
