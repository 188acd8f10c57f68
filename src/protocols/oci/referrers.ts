import type { Queries } from '../../database/database.ts'
import { referrersPageBytes, referrersPageMax } from '../../kernel/limits/oci.ts'
import { annotationsOf, referrerPage } from './referrers.queries.ts'
import type { ImageName } from './tags.ts'
import { type Digest, imageIndexType } from './vocabulary.ts'

interface Asked {
  readonly subject: Digest
  /** Undefined: all; a list, also an empty text in it, is a filter. */
  readonly artifactTypes: readonly string[] | undefined
  readonly last: string | undefined
  readonly limit?: number
  /** Of the manifests of a page, whose annotations are in it. */
  readonly bytes?: number
}

/** What refers to a manifest. */
export interface Referrer {
  readonly digest: string
  readonly mediaType: string
  readonly artifactType: string | null
  readonly size: number
  /** JSON object of texts. */
  readonly annotations: string
  readonly pushedAt: string
  readonly actor: string
}

/**
 * What refers to a manifest, whether that is there or not: a page of it, in the order of SHA-256, and where the next
 * one goes on. A page ends early where the annotations in it are long. Each is called by the algorithm that it is asked
 * for by.
 */
export const referrersOf = async (
  q: Queries,
  { repository, name }: ImageName,
  { subject, artifactTypes, last = '', limit = referrersPageMax, bytes = referrersPageBytes }: Asked,
): Promise<{ readonly referrers: readonly Referrer[]; readonly next: string | null }> => {
  const wanted = { repository, name, subject: subject.text, artifactTypes: artifactTypes ?? [], last }
  const rows = await referrerPage(q, wanted, limit + 1)
  let taken = 0
  const shown = rows.slice(0, limit).filter(({ size }, at) => {
    taken += size
    return at === 0 || taken <= bytes
  })
  const annotations = await annotationsOf(
    q,
    shown.map(({ id }) => id),
  )
  const referrers = shown.map((row) => ({
    digest: subject.algorithm === 'sha512' ? (row.digest512 ?? row.digest) : row.digest,
    mediaType: row.media_type,
    artifactType: row.artifact_type,
    size: row.size,
    annotations: annotations.get(row.id) ?? '{}',
    pushedAt: row.pushed_at,
    actor: row.actor,
  }))
  return { referrers, next: rows.length > shown.length ? (shown.at(-1)?.digest ?? null) : null }
}

/** The same as an image index. */
export const listReferrers = async (
  q: Queries,
  image: ImageName,
  asked: Asked,
): Promise<{ readonly text: string; readonly next: string | null }> => {
  const { referrers, next } = await referrersOf(q, image, asked)
  const manifests = referrers.map(({ digest, mediaType, artifactType, size, annotations }) => {
    const descriptor = JSON.stringify({ mediaType, digest, size, ...(artifactType === null ? {} : { artifactType }) })
    return annotations === '{}' ? descriptor : `${descriptor.slice(0, -1)},"annotations":${annotations}}`
  })
  const head = JSON.stringify({ schemaVersion: 2, mediaType: imageIndexType })
  return { text: `${head.slice(0, -1)},"manifests":[${manifests.join(',')}]}`, next }
}
