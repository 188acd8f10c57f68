import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { OciManifestsTable, OciReferencesTable } from '../../database/tables/images.ts'
import type { Digest } from './vocabulary.ts'

type Here = { repository: string; name: string }

/** What is asked of a manifest and its bytes. */
const columns = [
  'oci_manifests.id',
  'oci_manifests.digest',
  'oci_manifests.digest512',
  'oci_manifests.media_type',
  'oci_manifests.blob_id',
  'oci_manifests.subject',
  'oci_blobs.sha256',
  'oci_blobs.size',
] as const

const byDigest = (column: 'digest' | 'digest512') =>
  prepareQuery((q, p: Parameters<Here & { digest: string }>) =>
    q
      .selectFrom('oci_manifests')
      .innerJoin('oci_blobs', 'oci_blobs.id', 'oci_manifests.blob_id')
      .select(columns)
      .where('oci_manifests.repository', '=', p('repository'))
      .where('oci_manifests.name', '=', p('name'))
      .where(`oci_manifests.${column}`, '=', p('digest')),
  )

const rows = { sha256: byDigest('digest'), sha512: byDigest('digest512') }

export type FoundManifest = Awaited<ReturnType<(typeof rows)['sha256']>>[number]

/** The manifest that has the digest. */
export const findManifest = async (
  q: Queries,
  here: Here,
  { algorithm, text }: Digest,
): Promise<FoundManifest | undefined> => (await rows[algorithm](q, { ...here, digest: text }))[0]

const byTag = prepareQuery((q, p: Parameters<Here & { tag: string }>) =>
  q
    .selectFrom('oci_tags')
    .innerJoin('oci_manifests', 'oci_manifests.id', 'oci_tags.manifest_id')
    .innerJoin('oci_blobs', 'oci_blobs.id', 'oci_manifests.blob_id')
    .select([...columns, 'oci_tags.algorithm'])
    .where('oci_tags.repository', '=', p('repository'))
    .where('oci_tags.name', '=', p('name'))
    .where('oci_tags.tag', '=', p('tag')),
)

const ofBlob = prepareQuery((q, p: Parameters<{ blobId: string }>) =>
  q.selectFrom('oci_manifests').select('id').where('blob_id', '=', p('blobId')).limit(1),
)

/** Whether a blob is the bytes of a manifest, below whatever names. */
export const isOfManifest = async (q: Queries, blobId: string): Promise<boolean> =>
  (await ofBlob(q, { blobId })).length > 0

/** The manifest that a tag is at, and by which of its digests the tag calls it. */
export const findTagged = async (q: Queries, here: Here, tag: string) => (await byTag(q, { ...here, tag }))[0]

/** Manifests below a name that have one of some digests of one algorithm. */
export const manifestsAmong = (
  q: Queries,
  { repository, name }: Here,
  column: 'digest' | 'digest512',
  digests: readonly string[],
) =>
  q
    .selectFrom('oci_manifests')
    .innerJoin('oci_blobs', 'oci_blobs.id', 'oci_manifests.blob_id')
    .select(['oci_manifests.id', 'digest', 'digest512', 'media_type', 'content_bytes', 'oci_blobs.size'])
    .where('oci_manifests.repository', '=', repository)
    .where('oci_manifests.name', '=', name)
    .where(`oci_manifests.${column}`, 'in', digests)
    .execute()

/** Unless there is one of that name. */
export const insertImage = async (tx: Transaction, { repository, name }: Here, now: string): Promise<void> => {
  await tx
    .insertInto('oci_images')
    .values({ repository, name, created_at: now, tags: 0, manifests: 0, pushed_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Below a name that is there; it is counted, and tells when something came last. */
export const insertManifest = async (tx: Transaction, row: Omit<OciManifestsTable, 'counted_on_at'>): Promise<void> => {
  await tx
    .insertInto('oci_manifests')
    .values({ ...row, counted_on_at: row.pushed_at })
    .execute()
  await countNew(tx, row, 1, row.pushed_at)
}

/** So many manifests came to an image. Whoever waited for the lock tells of an earlier time than those before them. */
export const countNew = async (
  tx: Transaction,
  { repository, name }: Here,
  count: number,
  at: string,
): Promise<void> => {
  await tx
    .updateTable('oci_images')
    .set((eb) => ({
      manifests: eb('manifests', '+', count),
      pushed_at: eb.case().when('pushed_at', '<', at).then(at).else(eb.ref('pushed_at')).end(),
    }))
    .where('repository', '=', repository)
    .where('name', '=', name)
    .execute()
}

export const insertReferences = async (tx: Transaction, rows: readonly OciReferencesTable[]): Promise<void> => {
  await tx.insertInto('oci_references').values(rows).execute()
}

/**
 * It came again, and somebody counts on it from now on: it has this digest as well, and if nothing keeps it, nothing
 * has since now.
 */
export const keepAnew = async (
  tx: Transaction,
  id: string,
  { digest512, now }: { readonly digest512: string | null; readonly now: string },
): Promise<void> => {
  await tx
    .updateTable('oci_manifests')
    .set((eb) => ({
      digest512,
      counted_on_at: now,
      unused_since: eb.case().when('unused_since', 'is', null).then(null).else(now).end(),
    }))
    .where('id', '=', id)
    .execute()
}

/**
 * Deletes a manifest with what it names, its tags' history and where it was promoted from; its tags are gone already,
 * and it has no stage. Answers its blobs.
 */
export const deleteManifestRows = async (
  tx: Transaction,
  { id, repository, name, blob_id }: Here & { readonly id: string; readonly blob_id: string },
): Promise<string[]> => {
  const named = await tx.deleteFrom('oci_references').where('manifest_id', '=', id).returning('blob_id').execute()
  await tx.deleteFrom('oci_tag_moves').where('manifest_id', '=', id).execute()
  await tx.deleteFrom('oci_promotions').where('copy_id', '=', id).execute()
  await tx.deleteFrom('oci_manifests').where('id', '=', id).execute()
  await tx
    .updateTable('oci_images')
    .set((eb) => ({ manifests: eb('manifests', '-', 1) }))
    .where('repository', '=', repository)
    .where('name', '=', name)
    .execute()
  return [...new Set([blob_id, ...named.flatMap((row) => row.blob_id ?? [])])]
}

/** The name goes with its last manifest. */
export const deleteImageWithoutManifests = async (tx: Transaction, { repository, name }: Here): Promise<void> => {
  const left = await tx
    .selectFrom('oci_manifests')
    .select('id')
    .where('repository', '=', repository)
    .where('name', '=', name)
    .orderBy('digest')
    .limit(1)
    .executeTakeFirst()
  if (left !== undefined) return
  await tx.deleteFrom('oci_images').where('repository', '=', repository).where('name', '=', name).execute()
}
