import Type from 'typebox'
import { imageNameMaxCharacters } from '../../kernel/limits/oci.ts'

const tagPattern = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}'
const digestPattern = 'sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}'

/** The words of the wire (OCI Distribution Specification), as patterns for the `u` flag. */
export const patterns = {
  /** What stands behind the repository: components joined by slashes. */
  name: '^[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*)*$',
  tag: `^${tagPattern}$`,
  digest: `^(?:${digestPattern})$`,
  reference: `^(?:${tagPattern}|${digestPattern})$`,
  /** Of tags: `*` stands for any characters, or none. */
  tagPattern: '^[A-Za-z0-9_*][A-Za-z0-9._*-]{0,127}$',
  /** Where a chunk goes; some clients write it as HTTP does. */
  chunk: '^(?:bytes[ =])?[0-9]{1,15}-[0-9]{1,15}(?:/(?:[0-9]{1,15}|\\*))?$',
} as const

/** Of an image behind its repository, which has 64 characters at most. */
export const ImageName = Type.String({
  pattern: patterns.name,
  // Behind the shortest repository; with its own one it is counted where something is pushed.
  maxLength: imageNameMaxCharacters - 2,
  description: 'components of lowercase letters and digits, joined by slashes',
})
export const TagName = Type.String({
  pattern: patterns.tag,
  description: 'up to 128 letters, digits, _ . or -, the first none of the last two',
})
export const DigestText = Type.String({
  pattern: patterns.digest,
  description: 'sha256: or sha512: and its hexadecimal digits',
})

/** What leads to a manifest. */
export const Reference = Type.String({ pattern: patterns.reference, description: 'a tag, or a digest' })

const name = new RegExp(patterns.name, 'u')
const tag = new RegExp(patterns.tag, 'u')
const digest = new RegExp(patterns.digest, 'u')

export const isImageName = (text: string): boolean => name.test(text)
export const isTag = (text: string): boolean => tag.test(text)
export const isDigest = (text: string): boolean => digest.test(text)

export type Algorithm = 'sha256' | 'sha512'

/** A digest as clients write it, taken apart. */
export interface Digest {
  readonly algorithm: Algorithm
  readonly hex: string
  /** As it is written: `sha256:…` or `sha512:…`. */
  readonly text: string
}

/** Throws a RangeError for what is no digest; ask {@link isDigest} before. */
export const toDigest = (text: string): Digest => {
  if (!isDigest(text)) throw new RangeError(`not a digest: ${JSON.stringify(text.slice(0, 200))}`)
  const [algorithm, hex = ''] = text.split(':')
  return { algorithm: algorithm === 'sha512' ? 'sha512' : 'sha256', hex, text }
}

export const sha256Digest = (hex: string): Digest => ({ algorithm: 'sha256', hex, text: `sha256:${hex}` })

/**
 * How clients that know no referrers begin the tags of what belongs to a digest: its algorithm and at most 64 digits,
 * as the specification has it.
 */
export const calledAfter = (digest: string): string => digest.replace(':', '-').slice(0, 'sha256-'.length + 64)

/** Media types that decide how a manifest is read. */
export const imageIndexType = 'application/vnd.oci.image.index.v1+json'
const imageManifestType = 'application/vnd.oci.image.manifest.v1+json'
export const imageTypes: readonly string[] = [imageManifestType, 'application/vnd.docker.distribution.manifest.v2+json']
export const indexTypes: readonly string[] = [
  imageIndexType,
  'application/vnd.docker.distribution.manifest.list.v2+json',
]
