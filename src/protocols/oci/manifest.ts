import { isBeyond } from '../../kernel/json-pieces.ts'
import { manifestPiecesMax, manifestReferencesMax, ociMediaTypeMaxCharacters } from '../../kernel/limits/oci.ts'
import { isPrintable, isStorable } from '../../kernel/names.ts'
import { repeatedName } from '../../kernel/repeated-names.ts'
import { platformOf, platformsAmong } from './platforms.ts'
import { manifestInvalid } from './refusals.ts'
import { type Fields, fieldsOf, isObject } from './stored-json.ts'
import { type Digest, imageTypes, indexTypes, isDigest, toDigest } from './vocabulary.ts'

/** What a manifest names. */
export interface Named {
  readonly role: 'config' | 'layer' | 'manifest'
  readonly mediaType: string
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

/** A byte order mark is no JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

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
    throw manifestInvalid(`Content-Type says ${shown(said)}, and the manifest ${shown(mediaType)}.`)
  const type = mediaType ?? said
  const isIndex = indexTypes.includes(type)
  if (!isIndex && !imageTypes.includes(type))
    throw manifestInvalid(
      `${JSON.stringify(shown(type))} is no media type of a manifest that is known here: ${[...imageTypes, ...indexTypes].join(', ')}.`,
    )
  const other = (isIndex ? ['config', 'layers'] : ['manifests']).find((field) => !isAbsent(fields[field]))
  if (other !== undefined)
    throw manifestInvalid(`What is ${type} has no ${other}: clients would disagree about what it is.`)
  const config = isIndex ? null : descriptor(fields['config'], 'config')
  const artifactType = typeText(fields['artifactType'], 'artifactType') ?? config?.mediaType ?? null
  const names = each(
    config === null
      ? listed(fields, 'manifests', 'manifest')
      : [nameOf(config, 'config'), ...listed(fields, 'layers', 'layer')],
  )
  return {
    mediaType: type,
    artifactType,
    subject: isAbsent(fields['subject']) ? null : descriptor(fields['subject'], 'subject').digest,
    annotations: textsOf(fields['annotations']),
    config,
    platforms: isIndex ? platformsIn(fields['manifests']) : [],
    names,
  }
}

/** Of what a client wrote, as much as people read. */
const shown = (text: string): string => text.slice(0, 200)

const parsed = (bytes: Uint8Array): unknown => {
  const text = readable(() => utf8.decode(bytes))
  if (isBeyond(text, manifestPiecesMax))
    throw manifestInvalid(
      `A manifest has at most ${manifestPiecesMax.count} brackets, commas and colons, and ${manifestPiecesMax.depth} levels.`,
    )
  const value = readable((): unknown => JSON.parse(text))
  const twice = repeatedName(text)
  if (twice !== null)
    throw manifestInvalid(`The manifest has the field ${JSON.stringify(twice.slice(0, 100))} twice in one object.`)
  return value
}

const readable = <T>(read: () => T): T => {
  try {
    return read()
  } catch (cause) {
    throw manifestInvalid(`The manifest is no JSON in UTF-8: ${cause instanceof Error ? cause.message : ''}`)
  }
}

const objectOf = (value: unknown, what: string): Fields => {
  if (!isObject(value)) throw manifestInvalid(`${what} is a JSON object.`)
  return value
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: Digest
  readonly size: number
  readonly hasUrls: boolean
}

const typeText = (value: unknown, where: string): string | null => {
  if (value === undefined || value === '') return null
  if (typeof value !== 'string' || value.length > ociMediaTypeMaxCharacters || !isPrintable(value))
    throw manifestInvalid(
      `${where} is a media type of at most ${ociMediaTypeMaxCharacters} characters, none of them a control character.`,
    )
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

const listed = (fields: Fields, list: string, role: Named['role']): Named[] => {
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
  mediaType,
  digest,
  size,
  mayBeElsewhere: role === 'layer' && (hasUrls || elsewhere.test(mediaType)),
})

/** What is named twice has to be here if one of the two says so. 400 where they say different things of it. */
const each = (names: readonly Named[]): Named[] => {
  const all = new Map<string, Named>()
  for (const named of names) {
    const key = `${named.role} ${named.digest.text}`
    const before = all.get(key) ?? named
    if (before.size !== named.size || (named.role === 'manifest' && before.mediaType !== named.mediaType))
      throw manifestInvalid(`${named.digest.text} is named twice, with different sizes or media types.`)
    all.set(key, { ...before, mayBeElsewhere: before.mayBeElsewhere && named.mayBeElsewhere })
  }
  return [...all.values()]
}

/** Nothing is copied: there may be many. */
const textsOf = (value: unknown): Readonly<Record<string, string>> => {
  if (isAbsent(value)) return {}
  const fields = objectOf(value, 'annotations')
  if (areTexts(fields)) return fields
  const odd = Object.keys(fields).find((name) => !isText(name, fields[name])) ?? ''
  throw manifestInvalid(
    `The annotation ${JSON.stringify(odd.slice(0, 200))} is no text, or has a zero character or half of a surrogate pair.`,
  )
}

const isText = (name: string, value: unknown): boolean =>
  typeof value === 'string' && isStorable(value) && isStorable(name)

const areTexts = (fields: Fields): fields is Readonly<Record<string, string>> =>
  Object.keys(fields).every((name) => isText(name, fields[name]))
