import { sql } from 'kysely'
import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { OciBlobsTable } from '../../database/tables/images.ts'
import type { Algorithm, Digest } from './vocabulary.ts'

const byDigest = (column: Algorithm) =>
  prepareQuery((q, p: Parameters<{ repository: string; hex: string }>) =>
    q
      .selectFrom('oci_blobs')
      .select([
        'id',
        'repository',
        'sha256',
        'sha512',
        'size',
        'created_at',
        'unused_since',
        'sent_below',
        'counted_on_at',
      ])
      .where(column, '=', p('hex'))
      .where('repository', '=', p('repository')),
  )

const rows = { sha256: byDigest('sha256'), sha512: byDigest('sha512') }

/** The blob of a repository that has the digest. */
export const findBlob = async (
  q: Queries,
  repository: string,
  { algorithm, hex }: Digest,
): Promise<OciBlobsTable | undefined> => (await rows[algorithm](q, { repository, hex }))[0]

/** Blobs of a repository that have one of some digests of one algorithm. */
export const blobsAmong = (q: Queries, repository: string, algorithm: Algorithm, hexes: readonly string[]) =>
  q
    .selectFrom('oci_blobs')
    .select(['id', 'size', 'sha256', 'sha512'])
    .where(algorithm, 'in', hexes)
    .where('repository', '=', repository)
    .execute()

/** Repositories that have the blob, by their ids. */
export const repositoriesWith = async (q: Queries, { algorithm, hex }: Digest, limit: number): Promise<string[]> =>
  (
    await q
      .selectFrom('oci_blobs')
      .select('repository')
      .where(algorithm, '=', hex)
      .orderBy('repository')
      .limit(limit)
      .execute()
  ).map(({ repository }) => repository)

export const insertBlob = prepareQuery((q, p: Parameters<OciBlobsTable>) =>
  q.insertInto('oci_blobs').values({
    id: p('id'),
    repository: p('repository'),
    sha256: p('sha256'),
    sha512: p('sha512'),
    size: p('size'),
    created_at: p('created_at'),
    unused_since: p('unused_since'),
    sent_below: p('sent_below'),
    counted_on_at: p('counted_on_at'),
  }),
)

/** The blob is called by this digest as well. */
export const setSha512 = async (tx: Transaction, id: string, sha512: string): Promise<void> => {
  await tx.updateTable('oci_blobs').set({ sha512 }).where('id', '=', id).execute()
}

/**
 * Somebody sent or mounted a blob that no manifest names, below that name: from now on it is held as long as a new one.
 */
export const holdAnew = (tx: Transaction, id: string, name: string, now: string): Promise<void> =>
  hold(tx, id, { unused_since: now, sent_below: name, counted_on_at: now })

/** Something else of its push came at that time. */
export const holdSince = (tx: Transaction, id: string, since: string): Promise<void> =>
  hold(tx, id, { unused_since: since })

const hold = async (tx: Transaction, id: string, held: Partial<OciBlobsTable>): Promise<void> => {
  await tx.updateTable('oci_blobs').set(held).where('id', '=', id).where('unused_since', 'is not', null).execute()
}

/** A manifest names these, or is one of them. */
export const markUsed = async (tx: Transaction, ids: readonly string[]): Promise<void> => {
  await tx
    .updateTable('oci_blobs')
    .set({ unused_since: null })
    .where('id', 'in', ids)
    .where('unused_since', 'is not', null)
    .execute()
}

/**
 * Manifests that name some blobs and were without them lead to them from now on, which keeps these: layers may lie
 * elsewhere first and come later, and bytes may become known by another digest.
 */
export const attachBlobs = async (tx: Transaction, ids: readonly string[]): Promise<void> => {
  const those = sql.join(ids)
  for (const algorithm of ['sha256', 'sha512'] as const) {
    const { rows } = await sql<{ blob_id: string }>`
      update oci_references set blob_id = b.id from oci_blobs b
      where b.id in (${those}) and oci_references.repository = b.repository
        and oci_references.digest = ${sql.lit(`${algorithm}:`)} || b.${sql.ref(algorithm)}
        and oci_references.blob_id is null and oci_references.role <> 'manifest'
      returning blob_id`.execute(tx)
    if (rows.length > 0) await markUsed(tx, [...new Set(rows.map(({ blob_id }) => blob_id))])
  }
}

/** Those of some blobs that no manifest names any more, nor is, have been unused since now. */
export const markIfUnused = async (tx: Transaction, ids: readonly string[], now: string): Promise<void> => {
  await tx
    .updateTable('oci_blobs')
    .set({ unused_since: now, counted_on_at: now })
    .where('id', 'in', ids)
    .where('unused_since', 'is', null)
    .where((eb) =>
      eb.and([
        eb.not(
          eb.exists(
            eb.selectFrom('oci_references').select(sql.lit(1).as('one')).whereRef('blob_id', '=', 'oci_blobs.id'),
          ),
        ),
        eb.not(
          eb.exists(
            eb.selectFrom('oci_manifests').select(sql.lit(1).as('one')).whereRef('blob_id', '=', 'oci_blobs.id'),
          ),
        ),
      ]),
    )
    .execute()
}

export const deleteBlobRow = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('oci_blobs').where('id', '=', id).execute()
}

/** Blobs that have been unused since a moment, or for longer. */
export const unusedSince = (q: Queries, until: string, limit: number) =>
  q
    .selectFrom('oci_blobs')
    .select(['id', 'repository'])
    .where('unused_since', '<=', until)
    .orderBy('unused_since')
    .limit(limit)
    .execute()

export const blobById = (q: Queries, id: string): Promise<OciBlobsTable | undefined> =>
  q.selectFrom('oci_blobs').selectAll().where('id', '=', id).executeTakeFirst()
