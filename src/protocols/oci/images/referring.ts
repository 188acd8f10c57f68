import type { Queries } from '../../../database/database.ts'
import { recordOf } from '../../../features/catalog/artifacts/views.ts'
import { referrersOpenedBytes } from '../../../kernel/limits/oci.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import type { Page } from '../../../kernel/page.ts'
import { referrersOf } from '../referrers.ts'
import type { ImageName } from '../tags.ts'
import { type Digest, isDigest } from '../vocabulary.ts'

export interface Referrer {
  readonly digest: string
  readonly mediaType: string
  readonly artifactType: string | null
  readonly size: string
  readonly annotations: Record<string, string>
  readonly pushedAt: string
  readonly actor: string
}

interface Asked {
  readonly subject: Digest
  readonly artifactTypes: readonly string[] | undefined
  readonly after: string | undefined
  readonly limit: number
}

/**
 * What refers to a manifest of an image, in the order of digests; a page may end early, as {@link referrersOf} says.
 */
export const referrerPage = async (
  q: Queries,
  image: ImageName,
  { subject, artifactTypes, after, limit }: Asked,
): Promise<Page<Referrer>> => {
  const listing = ['referrers', image.repository, image.name, subject.text, artifactTypes ?? null]
  const [last] = after === undefined ? [] : positionOfCursor(listing, after, [isDigest])
  const bytes = referrersOpenedBytes
  const { referrers, next } = await referrersOf(q, image, { subject, artifactTypes, last, limit, bytes })
  const items = referrers.map(({ size, annotations, ...rest }) => ({
    ...rest,
    size: String(size),
    annotations: recordOf(annotations),
  }))
  return { items, next: next === null ? null : opaqueCursor(listing, [next]) }
}
