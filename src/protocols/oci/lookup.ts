import type { Queries } from '../../database/database.ts'
import type { OciBlobsTable } from '../../database/tables/images.ts'
import { refuseUnlessHeld } from '../../features/identity/access/access.ts'
import type { RepositoryAction } from '../../kernel/actions.ts'
import { Failure } from '../../kernel/failure.ts'
import { imageNameMaxCharacters, manifestBytesMax, tagsPerPushMax } from '../../kernel/limits/oci.ts'
import { findBlob } from './blobs.queries.ts'
import { type FoundManifest, findManifest, findTagged, isOfManifest } from './manifests.queries.ts'
import { blobUnknown, digestInvalid, manifestUnknown, nameInvalid, tagInvalid } from './refusals.ts'
import type { ImageName } from './tags.ts'
import { type Digest, isDigest, isTag, toDigest } from './vocabulary.ts'

/** The blob of a repository. 404 without one. */
export const blobAt = async (q: Queries, repository: string, digest: Digest): Promise<OciBlobsTable> => {
  const found = await findBlob(q, repository, digest)
  if (found === undefined) throw blobUnknown(digest.text)
  return found
}

/**
 * 403 for the bytes of a manifest, which are a blob as well, where the caller may read contents alone. `held` is what
 * they may do in the repository; asked where a manifest may be as long.
 */
export const refuseUnlessReadable = async (
  q: Queries,
  { id, size }: Pick<OciBlobsTable, 'id' | 'size'>,
  held: () => Promise<ReadonlySet<RepositoryAction>>,
): Promise<void> => {
  if (size <= manifestBytesMax && (await isOfManifest(q, id))) refuseUnlessHeld(await held(), 'artifact.read')
}

/** 400 for a name that has too many characters with its repository: nothing is pushed below it. */
export const refuseLongName = ({ repository, name }: ImageName): void => {
  const characters = repository.length + 1 + name.length
  if (characters > imageNameMaxCharacters)
    throw nameInvalid(
      `A name has at most ${imageNameMaxCharacters} characters with its repository; this one has ${characters}.`,
    )
}

/** What a reference is: a digest where it has a colon, a tag otherwise. 400 for a digest that is none. */
export const refersTo = (reference: string): { readonly digest: Digest | null } => {
  if (!reference.includes(':')) return { digest: null }
  if (!isDigest(reference))
    throw digestInvalid(`${JSON.stringify(reference.slice(0, 200))} is no digest: it is sha256: or sha512: and digits.`)
  return { digest: toDigest(reference) }
}

/** A tag that is to be set. 400 for what can be none. */
export const tagWanted = (tag: string): string => {
  if (!isTag(tag))
    throw tagInvalid(
      `${JSON.stringify(tag.slice(0, 200))} is no tag: up to 128 letters, digits, _ . and -, the first none of the last two.`,
    )
  return tag
}

/** What a reference leads to. */
export interface At {
  readonly manifest: FoundManifest
  /** The digest to call it by. */
  readonly called: string
}

/** 400 for more tags than one push may set, however they are listed. */
export const refuseManyTags = (tags: readonly string[]): void => {
  if (tags.length > tagsPerPushMax)
    throw tagInvalid(`A push sets at most ${tagsPerPushMax} tags beside its own; this one names ${tags.length}.`)
}

/** The manifest that a reference leads to, or null. */
export const findAt = async (q: Queries, image: ImageName, reference: string): Promise<At | null> => {
  const { digest } = refersTo(reference)
  if (digest === null) {
    const tagged = isTag(reference) ? await findTagged(q, image, reference) : undefined
    if (tagged === undefined) return null
    const by512 = tagged.algorithm === 'sha512' ? tagged.digest512 : null
    return { manifest: tagged, called: by512 ?? tagged.digest }
  }
  const manifest = await findManifest(q, image, digest)
  return manifest === undefined ? null : { manifest, called: digest.text }
}

/** The same. 404 without one. */
export const manifestAt = async (q: Queries, image: ImageName, reference: string): Promise<At> => {
  const found = await findAt(q, image, reference)
  if (found === null) throw manifestUnknown(reference.slice(0, 200))
  return found
}

/** A range of GET that ends before it begins, which HTTP passes over, is one that cannot be sent here: 416. */
export const refuseReversed = (range: string | undefined, bytes: number): void => {
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(range ?? '') ?? []
  if (first === undefined || last === undefined || Number(last) >= Number(first)) return
  throw new Failure('range_not_satisfiable', `The range ${range} ends before it begins.`, {
    headers: { 'content-range': `bytes */${bytes}`, 'accept-ranges': 'bytes' },
  })
}
