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
}

export interface Referrers {
  /** An image index. */
  readonly text: string
  readonly next: string | null
}

/**
 * What refers to a manifest, whether that is there or not: a page of it, as an image index. A page ends early where the
 * annotations in it are long.
 */
export const listReferrers = async (
  q: Queries,
  { repository, name }: ImageName,
  { subject, artifactTypes, last = '' }: Asked,
): Promise<Referrers> => {
  const wanted = { repository, name, subject: subject.text, artifactTypes: artifactTypes ?? [], last }
  const rows = await referrerPage(q, wanted, referrersPageMax + 1)
  let bytes = 0
  const shown = rows.slice(0, referrersPageMax).filter(({ size }, at) => {
    bytes += size
    return at === 0 || bytes <= referrersPageBytes
  })
  const annotations = await annotationsOf(
    q,
    shown.map(({ id }) => id),
  )
  const manifests = shown.map((row) => {
    const described = annotations.get(row.id) ?? '{}'
    const descriptor = JSON.stringify({
      mediaType: row.media_type,
      digest: row.digest512 ?? row.digest,
      size: row.size,
      ...(row.artifact_type === null ? {} : { artifactType: row.artifact_type }),
    })
    return described === '{}' ? descriptor : `${descriptor.slice(0, -1)},"annotations":${described}}`
  })
  const head = JSON.stringify({ schemaVersion: 2, mediaType: imageIndexType })
  return {
    text: `${head.slice(0, -1)},"manifests":[${manifests.join(',')}]}`,
    next: rows.length > shown.length ? (shown.at(-1)?.digest ?? null) : null,
  }
}
