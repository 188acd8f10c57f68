import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { OciBlobsTable } from '../../../database/tables/images.ts'
import type { ImageName } from '../tags.ts'

/** Blobs that some manifests are or name. */
const blobsOf = (q: Queries, manifestIds: readonly string[]) =>
  q
    .selectFrom('oci_references')
    .select('blob_id')
    .where('manifest_id', 'in', manifestIds)
    .where('blob_id', 'is not', null)
    .unionAll(q.selectFrom('oci_manifests').select('blob_id').where('id', 'in', manifestIds))

/** How many things some manifests name, up to a limit. */
export const countReferences = async (q: Queries, manifestIds: readonly string[], limit: number): Promise<number> => {
  const rows = q.selectFrom('oci_references').select('position').where('manifest_id', 'in', manifestIds).limit(limit)
  const { count } = await q
    .selectFrom(rows.as('r'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** A blob as the source has it. */
export type Lacking = Pick<OciBlobsTable, 'sha256' | 'sha512' | 'size'>

/** Those that another repository does not have. */
export const blobsLackingIn = (
  q: Queries,
  target: string,
  manifestIds: readonly string[],
  limit: number,
): Promise<Lacking[]> =>
  q
    .selectFrom('oci_blobs as s')
    .select(['s.sha256', 's.sha512', 's.size'])
    .where('s.id', 'in', blobsOf(q, manifestIds))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('oci_blobs as t')
            .select(sql.lit(1).as('one'))
            .whereRef('t.sha256', '=', 's.sha256')
            .where('t.repository', '=', target),
        ),
      ),
    )
    .limit(limit)
    .execute()

export const insertBlobs = async (
  tx: Transaction,
  repository: string,
  blobs: readonly (Lacking & { readonly id: string })[],
  now: string,
): Promise<void> => {
  await tx
    .insertInto('oci_blobs')
    .values(
      blobs.map((blob) => ({
        ...blob,
        repository,
        created_at: now,
        unused_since: null,
        sent_below: null,
        counted_on_at: now,
      })),
    )
    .execute()
}

/** What one repository calls blobs of some manifests by SHA-512, they are called in the other as well; their ids. */
export const shareSha512 = async (
  tx: Transaction,
  from: string,
  to: string,
  manifestIds: readonly string[],
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    update oci_blobs set sha512 = (
      select s.sha512 from oci_blobs s where s.sha256 = oci_blobs.sha256 and s.repository = ${from})
    where repository = ${to} and sha512 is null and sha256 in (
      select s.sha256 from oci_blobs s where s.sha512 is not null and s.id in (${blobsOf(tx, manifestIds)}))
    returning id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Blobs that manifests have just come to name. */
export const useBlobsOf = async (tx: Transaction, manifestIds: readonly string[]): Promise<void> => {
  await tx
    .updateTable('oci_blobs')
    .set({ unused_since: null })
    .where('unused_since', 'is not', null)
    .where('id', 'in', blobsOf(tx, manifestIds))
    .execute()
}

/** A manifest, and what its copy is to be called. */
interface Pair {
  readonly source: { readonly id: string }
  readonly id: string
}

interface Destination {
  readonly to: ImageName
  readonly actor: string
  readonly now: string
}

/**
 * Copies the rows of manifests, and what they name, to another image, whose repository has the blobs; of layers that
 * lie elsewhere it may have some that the source lacks. Annotations, which may be long, do not leave the database.
 */
export const copyManifestRows = async (
  tx: Transaction,
  pairs: readonly Pair[],
  { to: { repository, name }, actor, now }: Destination,
): Promise<void> => {
  const rows = pairs.map(({ source, id }) => sql`(${source.id}, ${id})`)
  const copies = sql`copies (source, id) as (values ${sql.join(rows)})`
  await sql`
    with ${copies}
    insert into oci_manifests (id, repository, name, digest, digest512, blob_id, media_type, artifact_type, subject,
      annotations, content_bytes, platforms, pushed_at, actor, unused_since, counted_on_at)
    select c.id, ${repository}, ${name}, m.digest, m.digest512, t.id, m.media_type, m.artifact_type, m.subject,
      m.annotations, m.content_bytes, m.platforms, ${now}, ${actor}, ${now}, ${now}
    from copies c
    join oci_manifests m on m.id = c.source
    join oci_blobs s on s.id = m.blob_id
    join oci_blobs t on t.sha256 = s.sha256 and t.repository = ${repository}`.execute(tx)
  await sql`
    with ${copies}
    insert into oci_references (manifest_id, position, repository, name, role, digest, blob_id)
    select c.id, r.position, ${repository}, ${name}, r.role, r.digest, coalesce(t.id, u.id)
    from copies c
    join oci_references r on r.manifest_id = c.source
    left join oci_blobs s on s.id = r.blob_id
    left join oci_blobs t on t.sha256 = coalesce(s.sha256, substr(r.digest, 8)) and t.repository = ${repository}
      and r.role <> 'manifest'
    left join oci_blobs u on u.sha512 = substr(r.digest, 8) and u.repository = ${repository}
      and r.role <> 'manifest'`.execute(tx)
}
