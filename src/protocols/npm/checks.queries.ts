import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'

/**
 * Versions whose tarball has no claim that is as they are: live, or retired where they were deleted, and of all that is
 * said of them.
 */
export const versionsWithoutClaim = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ version: string }>`
    select v.repository || '/' || v.name || '@' || v.version as version from npm_versions v
    where not exists (select 1 from claims c where c.id = v.id and c.sha256 = v.sha256 and c.size = v.size
      and c.beside = octet_length(v.manifest) + coalesce(octet_length(v.readme), 0) + coalesce(octet_length(v.attestations), 0)
      and c.state = case when v.deleted_at is null then 'live' else 'retired' end)
    limit ${limit}`.execute(q)
  return rows.map(({ version }) => version)
}

/**
 * Claims for tarballs that no version holds, here or of an upstream, nor an upload that is under way or was cancelled.
 */
export const claimsWithoutVersion = (q: Queries, limit: number) =>
  q
    .selectFrom('claims')
    .leftJoin('npm_versions', 'npm_versions.id', 'claims.id')
    .leftJoin('npm_cached_versions', 'npm_cached_versions.id', 'claims.id')
    .leftJoin('uploads', (join) =>
      join.onRef('uploads.id', '=', 'claims.id').on('uploads.status', 'in', ['pending', 'cancelled']),
    )
    .select(['claims.id', 'claims.repository', 'claims.state'])
    .where('claims.holder', 'in', ['npm-version', 'npm-cached'])
    .where('npm_versions.id', 'is', null)
    .where('npm_cached_versions.id', 'is', null)
    .where((eb) => eb.or([eb('uploads.id', 'is', null), eb('claims.state', '=', 'live')]))
    .limit(limit)
    .execute()

/** Packages that are said to have other versions than there are, or that were numbered otherwise. */
export const packagesMiscounted = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ package: string }>`
    select p.repository || '/' || p.name as package from npm_packages p
    where p.versions <> (select count(*) from npm_versions v where v.package_id = p.id and v.deleted_at is null)
      or p.last_number < (select max(v.number) from npm_versions v where v.package_id = p.id)
    limit ${limit}`.execute(q)
  return rows.map(({ package: name }) => name)
}

/** Versions that documents show although they were deleted, or do not show although they are there. */
export const versionsMisshown = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ version: string }>`
    select v.repository || '/' || v.name || '@' || v.version as version from npm_versions v
    left join npm_pieces p on p.package_id = v.package_id and p.number = v.piece
    where (v.deleted_at is not null and v.piece is not null)
      or (v.deleted_at is null and (p.number is null or replace(p.times, '"' || v.version || '":', '') = p.times))
    limit ${limit}`.execute(q)
  return rows.map(({ version }) => version)
}

/** Tags that are at versions which were deleted. */
export const tagsAtDeleted = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ tag: string }>`
    select v.repository || '/' || v.name || ' ' || t.tag as tag from npm_tags t
    join npm_versions v on v.id = t.version_id where v.deleted_at is not null
    limit ${limit}`.execute(q)
  return rows.map(({ tag }) => tag)
}

/** Stages of versions that were deleted. */
export const stagesOfDeleted = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ stage: string }>`
    select s.stage || ' is of ' || v.repository || '/' || v.name || '@' || v.version as stage from npm_stages s
    join npm_versions v on v.id = s.version_id where v.deleted_at is not null
    limit ${limit}`.execute(q)
  return rows.map(({ stage }) => stage)
}

/** Packages whose documents are of another state than they are in. */
export const documentsOfOtherStates = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ package: string }>`
    select p.repository || '/' || p.name as package from npm_packages p
    left join npm_documents d on d.package_id = p.id
    where d.package_id is null
      or d.head not like '{"_id":%,"_rev":"' || cast(p.revision as text) || '-' || replace(p.id, '-', '') || '",%'
    limit ${limit}`.execute(q)
  return rows.map(({ package: name }) => name)
}
