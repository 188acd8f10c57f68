import type { Queries } from '../../../database/database.ts'
import { manifestsAmong } from '../manifests.queries.ts'
import { platformOf } from '../platforms.ts'
import { fieldsOf } from '../stored-json.ts'
import type { ImageName } from '../tags.ts'
import { isDigest } from '../vocabulary.ts'
import { textsByName } from './config-content.ts'

/** What a manifest names. */
export interface Described {
  readonly mediaType: string
  readonly digest: string
  readonly size: string
}

/** A manifest that an index lists. */
export interface Listed extends Described {
  readonly artifactType: string | null
  readonly platform: string | null
  /** Of all that it leads to; null where it is not here any more. */
  readonly contentSize: string | null
  readonly annotations: Record<string, string>
}

/** Null for what is no descriptor. */
export const describedIn = (value: unknown): Described | null => {
  const { mediaType, digest, size } = fieldsOf(value)
  if (typeof mediaType !== 'string' || typeof digest !== 'string' || !isDigest(digest)) return null
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
    ? { mediaType, digest, size: String(size) }
    : null
}

/** What an index lists, in its order. */
export const listedIn = async (q: Queries, image: ImageName, manifests: unknown): Promise<Listed[]> => {
  const listed = (Array.isArray(manifests) ? manifests : []).flatMap((value: unknown) => {
    const described = describedIn(value)
    return described === null ? [] : { described, fields: fieldsOf(value) }
  })
  const sizes = await contentSizes(
    q,
    image,
    listed.map(({ described }) => described.digest),
  )
  return listed.map(({ described, fields: { artifactType, platform, annotations } }) => ({
    ...described,
    artifactType: typeof artifactType === 'string' ? artifactType : null,
    platform: platformOf(platform),
    contentSize: sizes.get(described.digest) ?? null,
    annotations: textsByName(annotations),
  }))
}

/** Digests that are looked for in one statement. */
const digestsAtOnce = 500

const contentSizes = async (q: Queries, image: ImageName, digests: readonly string[]): Promise<Map<string, string>> => {
  const sizes = new Map<string, string>()
  for (const [column, prefix] of [
    ['digest', 'sha256:'],
    ['digest512', 'sha512:'],
  ] as const) {
    const those = digests.filter((digest) => digest.startsWith(prefix))
    for (let at = 0; at < those.length; at += digestsAtOnce)
      for (const row of await manifestsAmong(q, image, column, those.slice(at, at + digestsAtOnce)))
        sizes.set(row[column] ?? '', String(row.content_bytes))
  }
  return sizes
}
