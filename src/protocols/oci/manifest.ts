import { manifestReferencesMax, ociMediaTypeMaxCharacters } from '../../kernel/limits/oci.ts'
import { repeatedName } from '../../kernel/repeated-names.ts'
import { platformOf, platformsAmong } from './platforms.ts'
import { manifestInvalid } from './refusals.ts'
import { fieldsOf } from './stored-json.ts'
import { type Digest, imageTypes, indexTypes, isDigest, toDigest } from './vocabulary.ts'

/** What a manifest names. */
export interface Named {
  readonly role: 'config' | 'layer' | 'manifest'
  readonly digest: Digest
  readonly size: number
  /** It need not be here: a layer that is not to be distributed, or lies elsewhere. */
  readonly mayBeElsewhere: boolean
}

/** What a manifest says of its config. */
export interface Config {
  readonly mediaType: string
  readonly digest: Digest
  readonly size: number
}

/** What there is to know of a manifest beside its bytes. */
export interface Manifest {
  readonly mediaType: string
  readonly artifactType: string | null
  readonly subject: Digest | null
  readonly annotations: Readonly<Record<string, string>>
  /** Of an image; an index has none. */
  readonly config: Config | null
  /** What an index says that it is for. An image says so in its config. */
  readonly platforms: readonly string[]
  /** Each once. */
  readonly names: readonly Named[]
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a manifest, which is one of an image or an index of some, of the OCI or of Docker. `contentType` is what the
 * client says that it is; of what it consists nothing is looked up. 400 MANIFEST_INVALID for what is none.
 */
export const readManifest = (bytes: Uint8Array, contentType: string): Manifest => {
  const fields = objectOf(parsed(bytes), 'The manifest')
  const { mediaType, schemaVersion } = fields
  if (schemaVersion !== 2) throw manifestInvalid('The schemaVersion of a manifest is 2.')
  const said = contentType.split(';', 1)[0]?.trim() ?? ''
  if (mediaType !== undefined && typeof mediaType !== 'string')
    throw manifestInvalid('The mediaType of a manifest is a text.')
  if (said !== '' && mediaType !== undefined && said !== mediaType)
    throw manifestInvalid(`Content-Type says ${said}, and the manifest ${mediaType}.`)
  const type = mediaType ?? said
  const isIndex = indexTypes.includes(type)
  if (!isIndex && !imageTypes.includes(type))
    throw manifestInvalid(
      `${JSON.stringify(type)} is no media type of a manifest that is known here: ${[...imageTypes, ...indexTypes].join(', ')}.`,
    )
  const config = isIndex ? null : descriptor(fields['config'], 'config')
  const artifactType = typeText(fields['artifactType'], 'artifactType') ?? config?.mediaType ?? null
  return {
    mediaType: type,
    artifactType,
    subject: isAbsent(fields['subject']) ? null : descriptor(fields['subject'], 'subject').digest,
    annotations: textsOf(fields['annotations']),
    config,
    platforms: isIndex ? platformsIn(fields['manifests']) : [],
    names: each(
      config === null
        ? listed(fields, 'manifests', 'manifest')
        : [nameOf(config, 'config'), ...listed(fields, 'layers', 'layer')],
    ),
  }
}

const parsed = (bytes: Uint8Array): unknown => {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch (cause) {
    throw manifestInvalid(`The manifest is no JSON in UTF-8: ${cause instanceof Error ? cause.message : ''}`)
  }
  const twice = repeatedName(text)
  if (twice !== null)
    throw manifestInvalid(`The manifest has the field ${JSON.stringify(twice.slice(0, 100))} twice in one object.`)
  return value
}

const objectOf = (value: unknown, what: string): Record<string, unknown> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw manifestInvalid(`${what} is a JSON object.`)
  return { ...value }
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: Digest
  readonly size: number
  readonly hasUrls: boolean
}

const typeText = (value: unknown, where: string): string | null => {
  if (value === undefined || value === '') return null
  if (typeof value !== 'string' || value.length > ociMediaTypeMaxCharacters)
    throw manifestInvalid(`${where} is a media type of at most ${ociMediaTypeMaxCharacters} characters.`)
  return value
}

const descriptor = (value: unknown, where: string): Descriptor => {
  const { mediaType, digest, size, urls } = objectOf(value, where)
  if (typeof digest !== 'string' || !isDigest(digest))
    throw manifestInvalid(`${where} has no digest that is known here: ${JSON.stringify(digest)?.slice(0, 200)}.`, {
      where,
    })
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw manifestInvalid(`The size of ${where} is a count of bytes.`, { where })
  const type = typeText(mediaType, `The mediaType of ${where}`)
  if (type === null) throw manifestInvalid(`${where} has no mediaType.`, { where })
  return { mediaType: type, digest: toDigest(digest), size, hasUrls: Array.isArray(urls) && urls.length > 0 }
}

/** Some clients write `null` for what is not there, as their language does: also for a list without entries. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null

const listed = (fields: Readonly<Record<string, unknown>>, list: string, role: Named['role']): Named[] => {
  const all = fields[list] === null ? [] : fields[list]
  if (!Array.isArray(all)) throw manifestInvalid(`The ${list} of a manifest are a list.`)
  if (all.length > manifestReferencesMax)
    throw manifestInvalid(`A manifest names at most ${manifestReferencesMax} ${list}; this one has ${all.length}.`)
  return all.map((value: unknown, at) => nameOf(descriptor(value, `${list}[${at}]`), role))
}

const platformsIn = (list: unknown): string[] => {
  const all: unknown[] = Array.isArray(list) ? list : []
  return platformsAmong(all.map((value) => platformOf(fieldsOf(value)['platform'])))
}

/** Media types of layers that licences keep from being passed on. */
const elsewhere = /\.nondistributable\.|\.rootfs\.foreign\./

const nameOf = ({ mediaType, digest, size, hasUrls }: Descriptor, role: Named['role']): Named => ({
  role,
  digest,
  size,
  mayBeElsewhere: role === 'layer' && (hasUrls || elsewhere.test(mediaType)),
})

/** Layers may be there twice; what matters is that they are. */
const each = (names: readonly Named[]): Named[] => [
  ...new Map(names.map((named) => [`${named.role} ${named.digest.text}`, named])).values(),
]

const textsOf = (value: unknown): Record<string, string> => {
  if (isAbsent(value)) return {}
  const texts: Record<string, string> = {}
  for (const [name, text] of Object.entries(objectOf(value, 'annotations'))) {
    if (typeof text !== 'string') throw manifestInvalid(`The annotation ${JSON.stringify(name)} is no text.`)
    Object.defineProperty(texts, name, { value: text, enumerable: true })
  }
  return texts
}
