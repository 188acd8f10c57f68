import { sql } from 'kysely'
import type { Queries, Transaction } from '../../database/database.ts'

/** Blobs of images whose claim is another, or not live. */
export const blobsWithoutClaim = (q: Queries, limit: number) =>
  q
    .selectFrom('oci_blobs')
    .leftJoin('claims', (join) =>
      join
        .onRef('claims.id', '=', 'oci_blobs.id')
        .onRef('claims.sha256', '=', 'oci_blobs.sha256')
        .onRef('claims.size', '=', 'oci_blobs.size')
        .on('claims.state', '=', 'live'),
    )
    .select(['oci_blobs.id', 'oci_blobs.repository'])
    .where('claims.id', 'is', null)
    .limit(limit)
    .execute()

/** Claims for blobs of images that no blob holds, nor an upload that is under way or was cancelled. */
export const claimsWithoutBlobRow = (q: Queries, limit: number) =>
  q
    .selectFrom('claims')
    .leftJoin('oci_blobs', 'oci_blobs.id', 'claims.id')
    .leftJoin('uploads', (join) =>
      join.onRef('uploads.id', '=', 'claims.id').on('uploads.status', 'in', ['pending', 'cancelled']),
    )
    .select(['claims.id', 'claims.repository', 'claims.state'])
    .where('claims.holder', '=', 'oci-blob')
    .where('oci_blobs.id', 'is', null)
    .where((eb) => eb.or([eb('uploads.id', 'is', null), eb('claims.state', '=', 'live')]))
    .limit(limit)
    .execute()

/** Blobs that are said to be unused and are not, or the other way round. */
export const blobsMisjudged = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select b.id from oci_blobs b where (b.unused_since is null) <> (
      exists (select 1 from oci_references r where r.blob_id = b.id)
      or exists (select 1 from oci_manifests m where m.blob_id = b.id))
    limit ${limit}`.execute(q)
  return rows.map(({ id }) => id)
}

/** Whether an index lists the manifest `m`, or what it refers to is there. */
const belongs = sql`(exists (select 1 from oci_references r where r.repository = m.repository and r.name = m.name
      and r.role = 'manifest' and (r.digest = m.digest or r.digest = m.digest512))
    or exists (select 1 from oci_manifests s where s.repository = m.repository and s.name = m.name
      and (s.digest = m.subject or s.digest512 = m.subject)))`

/** The same of manifests, with since when they were pushed. */
export const manifestsMisjudged = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select m.id from oci_manifests m where (m.unused_since is null) <> (
      exists (select 1 from oci_tags t where t.manifest_id = m.id)
      or exists (select 1 from oci_stages g where g.manifest_id = m.id) or ${belongs})
    limit ${limit}`.execute(q)
  return rows.map(({ id }) => id)
}

/** Manifests that storage policies would count from another time than that of their newest tag, or at all or not. */
export const manifestsMiscounted = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select m.id from oci_manifests m where coalesce(m.tagged_at, '') <> coalesce(case when ${belongs} then null else (
      select max(t.moved_at) from oci_tags t where t.manifest_id = m.id
        and not (substr(t.tag, 1, 7) in ('sha256-', 'sha512-') and length(t.tag) >= 71
        and substr(t.tag, 72, 1) in ('', '.'))) end, '')
    limit ${limit}`.execute(q)
  return rows.map(({ id }) => id)
}

/** Manifests whose bytes have another digest than they are found by. */
export const manifestsOfOtherBytes = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select m.id from oci_manifests m join oci_blobs b on b.id = m.blob_id
    where m.digest <> 'sha256:' || b.sha256 or (m.digest512 is not null and m.digest512 <> 'sha512:' || coalesce(b.sha512, ''))
    limit ${limit}`.execute(q)
  return rows.map(({ id }) => id)
}

/** Blobs that are named by another digest than they have. */
export const referencesToOtherBytes = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select r.manifest_id as id from oci_references r join oci_blobs b on b.id = r.blob_id
    where r.digest <> 'sha256:' || b.sha256 and r.digest <> 'sha512:' || coalesce(b.sha512, '')
    limit ${limit}`.execute(q)
  return rows.map(({ id }) => id)
}

/** Manifests that are without bytes that they name and their repository has. */
export const referencesWithoutBytes = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select r.manifest_id as id from oci_references r join oci_blobs b on b.repository = r.repository
      and (b.sha256 = substr(r.digest, 8) or b.sha512 = substr(r.digest, 8))
    where r.blob_id is null and r.role <> 'manifest' limit ${limit}`.execute(q)
  return rows.map(({ id }) => id)
}

/** Tags that are not at the manifest of their last move, and tags that were taken away and are there. */
export const tagsBesideMoves = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ tag: string }>`
    select t.repository || '/' || t.name || ':' || t.tag as tag from oci_tags t
    where not exists (select 1 from oci_tag_moves v where v.repository = t.repository and v.name = t.name
      and v.tag = t.tag and v.manifest_id = t.manifest_id and v.removed = 0
      and v.revision = (select max(w.revision) from oci_tag_moves w
        where w.repository = t.repository and w.name = t.name and w.tag = t.tag))
    limit ${limit}`.execute(q)
  return rows.map(({ tag }) => tag)
}

/** Names that are said to have other tags or manifests than there are, or nothing new since one came. */
export const imagesMiscounted = async (q: Queries, limit: number): Promise<string[]> => {
  const here = sql`repository = i.repository and name = i.name`
  const { rows } = await sql<{ image: string }>`
    select i.repository || '/' || i.name as image from oci_images i
    where i.tags <> (select count(*) from oci_tags where ${here})
      or i.manifests <> (select count(*) from oci_manifests where ${here})
      or i.pushed_at < (select max(pushed_at) from oci_manifests where ${here})
    limit ${limit}`.execute(q)
  return rows.map(({ image }) => image)
}

/** Names without a manifest. */
export const emptyImages = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ image: string }>`
    select i.repository || '/' || i.name as image from oci_images i
    where not exists (select 1 from oci_manifests m where m.repository = i.repository and m.name = i.name)
    limit ${limit}`.execute(q)
  return rows.map(({ image }) => image)
}

/** Blobs and manifests that are said to be unused from a moment on that is still to come. */
export const unusedFromLater = async (q: Queries, until: string, limit: number): Promise<string[]> => {
  const ids: string[] = []
  for (const table of ['oci_blobs', 'oci_manifests'] as const)
    for (const { id } of await q
      .selectFrom(table)
      .select('id')
      .where('unused_since', '>', until)
      .limit(limit)
      .execute())
      ids.push(id)
  return ids
}

/** Puts that right. */
export const unusedFromNow = async (tx: Transaction, id: string, now: string): Promise<void> => {
  for (const table of ['oci_blobs', 'oci_manifests'] as const)
    await tx
      .updateTable(table)
      .set({ unused_since: now })
      .where('id', '=', id)
      .where('unused_since', '>', now)
      .execute()
}
