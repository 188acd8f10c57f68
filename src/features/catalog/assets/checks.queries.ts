import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'

/** Paths whose current revision is not in the history, or not its newest, or shows nothing. */
export const assetsBesideHistory = (q: Queries, limit: number) =>
  q
    .selectFrom('assets')
    .leftJoin('asset_revisions as own', (join) =>
      join
        .onRef('own.repository', '=', 'assets.repository')
        .onRef('own.path', '=', 'assets.path')
        .onRef('own.revision', '=', 'assets.revision')
        .onRef('own.artifact_id', '=', 'assets.artifact_id')
        .on('own.removed', '=', 0),
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

/**
 * Removed paths that show something, whose history goes on, or does not end with the removal although that was not
 * forgotten.
 */
export const removedBesideHistory = (q: Queries, limit: number) =>
  q
    .selectFrom('removed_paths')
    .leftJoin('assets', (join) =>
      join.onRef('assets.repository', '=', 'removed_paths.repository').onRef('assets.path', '=', 'removed_paths.path'),
    )
    .leftJoin('asset_revisions as own', (join) =>
      join
        .onRef('own.repository', '=', 'removed_paths.repository')
        .onRef('own.path', '=', 'removed_paths.path')
        .onRef('own.revision', '=', 'removed_paths.revision')
        .on('own.removed', '=', 1),
    )
    .leftJoin('asset_revisions as newer', (join) =>
      join
        .onRef('newer.repository', '=', 'removed_paths.repository')
        .onRef('newer.path', '=', 'removed_paths.path')
        .onRef('newer.revision', '>', 'removed_paths.revision'),
    )
    .select(['removed_paths.repository', 'removed_paths.path'])
    .where((eb) =>
      eb.or([
        eb('assets.path', 'is not', null),
        eb('newer.path', 'is not', null),
        eb.and([eb('own.path', 'is', null), eb('removed_paths.oldest', '<=', eb.ref('removed_paths.revision'))]),
      ]),
    )
    .limit(limit)
    .execute()

/** Paths whose history does not begin with the revision that is said to be the oldest of it. */
export const besideOldest = async (q: Queries, table: 'assets' | 'removed_paths', limit: number) => {
  const { rows } = await sql<{ repository: string; path: string }>`
    select s.repository, s.path from ${sql.table(table)} as s
    where s.oldest <> coalesce(
      (select min(r.revision) from asset_revisions as r where r.repository = s.repository and r.path = s.path),
      s.revision + 1
    ) limit ${limit}`.execute(q)
  return rows
}

/**
 * Revisions that no path could have come to: that restore what comes after them, or remove what was not shown. What was
 * shown before the oldest one nobody knows any more.
 */
export const impossibleRevisions = async (q: Queries, limit: number) => {
  const { rows } = await sql<{ repository: string; path: string; revision: number }>`
    select r.repository, r.path, r.revision from asset_revisions as r
    left join asset_revisions as p on p.repository = r.repository and p.path = r.path and p.revision = r.revision - 1
    where r.removed not in (0, 1)
      or r.source_revision < 1 or r.source_revision >= r.revision
      or (r.removed = 1 and (r.revision = 1 or p.removed = 1 or p.artifact_id <> r.artifact_id))
    limit ${limit}`.execute(q)
  return rows
}

/** Removed paths of which it is not known when that was. */
export const removedAtNoTime = async (q: Queries, limit: number) => {
  const { rows } = await sql<{ repository: string; path: string }>`
    select repository, path from removed_paths where removed_at not like '____-__-__T__:__:__.___Z'
    limit ${limit}`.execute(q)
  return rows
}
