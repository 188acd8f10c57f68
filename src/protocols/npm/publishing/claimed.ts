import { valid, validRange } from 'semver'
import { npmNameMaxCharacters, npmTagMaxCharacters, npmTagsMax } from '../../../kernel/limits/npm.ts'
import { type Fields, objectOf } from '../fields.ts'
import { badPackage, quoted } from '../refusals.ts'
import { isPackageName, isTag, tarballName } from '../vocabulary.ts'
import { type IncomingDocument, jsonObject } from './document.ts'
import { refuseOtherManifest, runsOnInstall } from './inside.ts'
import type { Unpacked } from './tarball.ts'

/** A version as its document says that it is. */
export interface Claimed {
  readonly name: string
  readonly version: string
  readonly manifest: Fields
  readonly readme: string | null
  readonly tags: readonly string[]
  /** What the tarball is said to be, where something is said. */
  readonly integrity: string | null
  readonly shasum: string | null
  readonly bytes: number | null
}

/** 400 for a name under which nothing is published. */
export const refuseName = (name: string): void => {
  if (name.length > npmNameMaxCharacters)
    throw badPackage(`A name has at most ${npmNameMaxCharacters} characters; this one has ${name.length}.`)
  if (!isPackageName(name))
    throw badPackage(
      `${quoted(name)} is no name to publish under: it is lower-case letters, digits, - _ . and, for a scope, @scope/ before them.`,
    )
}

/** No word of letters is a range, but for what `v` and `x` begin; the parser of ranges is slow to say so. */
const isPlainWord = (tag: string): boolean => /^[a-uwyz]+$/iu.test(tag)

/** Why something is no tag, above all a range of versions; null for a tag. */
export const tagFault = (tag: string): string | null => {
  if (tag.length > npmTagMaxCharacters || !isTag(tag))
    return `${JSON.stringify(tag.slice(0, 250))} is no tag: 1 to ${npmTagMaxCharacters} visible characters.`
  if (!isPlainWord(tag) && validRange(tag) !== null)
    return `Tag name must not be a valid SemVer range: ${tag}. Clients would take it for versions.`
  return null
}

/** 400 for what is no tag. */
export const refuseTag = (tag: string): void => {
  const fault = tagFault(tag)
  if (fault !== null) throw badPackage(fault)
}

/** The version that a text names, without what does not tell versions apart. 400 for none. */
export const versionOf = (text: unknown): string => {
  const version = typeof text === 'string' ? valid(text) : null
  if (version === null)
    throw badPackage(`${quoted(text)} is no version: it needs three numbers, as 1.0.0 (semver.org).`)
  return version
}

/**
 * What the document says of the version whose tarball came. 400 where it contradicts itself. Others that it tells of
 * are those that the client read before.
 */
export const claimedOf = (document: IncomingDocument, name: string, attachment: string): Claimed => {
  const rest = document.rest()
  for (const said of [rest['_id'], rest['name']])
    if (said !== undefined && said !== name)
      throw badPackage(`The document is of ${quoted(said)}, and was sent to the address of ${name}.`)
  const key = keyOfVersion(document, name, attachment)
  const all = jsonObject(document.versions.get(key) ?? Buffer.from('null'), `The version ${key}`)
  const version = versionOf(all['version'])
  if (versionOf(key) !== version)
    throw badPackage(`The version ${key} says of itself that it is ${quoted(all['version'])}.`)
  if (all['name'] !== name)
    throw badPackage(`The version ${key} says that it is of ${quoted(all['name'])}, not of ${name}.`)
  if (all['private'] === true)
    throw badPackage(`${name} is private: remove "private" from its package.json to publish it.`)
  const dist = objectOf(all['dist'])
  const sent = objectOf(objectOf(rest['_attachments'])[attachment])
  return {
    ...{ name, version, manifest: all },
    readme: textOf(all['readme']) ?? textOf(rest['readme']),
    tags: tagsFor(objectOf(rest['dist-tags']), version),
    integrity: textOf(dist['integrity']),
    shasum: textOf(dist['shasum']),
    bytes: typeof sent['length'] === 'number' ? sent['length'] : null,
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The only version, or of several the one that the attachment is called by. */
const keyOfVersion = ({ versions }: IncomingDocument, name: string, attachment: string): string => {
  const keys = [...versions.keys()]
  const [only] = keys
  if (only === undefined) throw badPackage('The document has an attachment and no version.')
  if (keys.length === 1) return only
  const called = attachment.slice(attachment.lastIndexOf('/') + 1)
  const named = keys.find((key) => called === tarballName(name, key))
  if (named === undefined)
    throw badPackage(`The document has ${keys.length} versions, and ${quoted(attachment)} is the tarball of none.`)
  return named
}

/** Tags that are to be at the version. 400 for what is none. */
const tagsFor = (said: Fields, version: string): string[] => {
  const all = Object.entries(said)
  if (all.length > npmTagsMax) throw badPackage(`A package has at most ${npmTagsMax} tags.`)
  const tags = all.flatMap(([tag, at]) => (typeof at === 'string' && valid(at) === version ? [tag] : []))
  for (const tag of tags) refuseTag(tag)
  return tags
}

/** What came. */
interface Came {
  readonly bytes: number
  /** Hexadecimal digits. */
  readonly sha1: string
  /** Base64. */
  readonly sha512: string
  readonly unpacked: Unpacked
}

/** 400 where the tarball is not what was claimed: another length, other hashes, something else inside. */
export const refuseOther = (claimed: Claimed, came: Came): void => {
  const { integrity, shasum, bytes } = claimed
  if (bytes !== null && bytes !== came.bytes)
    throw badPackage(`The tarball has ${came.bytes} bytes; the document says ${bytes}. Publish it again.`)
  if (shasum !== null && shasum.toLowerCase() !== came.sha1)
    throw badPackage(`The tarball has the SHA-1 ${came.sha1}; the document says ${shasum}. Publish it again.`)
  const said512 = integrity?.split(/\s+/).filter((each) => each.startsWith('sha512-')) ?? []
  if (said512.length > 0 && !said512.some((each) => each.slice('sha512-'.length).split('?')[0] === came.sha512))
    throw badPackage(
      `The tarball has the integrity sha512-${came.sha512}; the document says ${integrity}. Publish it again.`,
    )
  refuseOtherInside(claimed, came.unpacked)
  refuseOtherManifest(claimed.manifest, came.unpacked.manifest)
}

/** 400 where a tarball has another package in it than it should. */
export const refuseOtherInside = (
  { name, version }: Pick<Claimed, 'name' | 'version'>,
  { manifest: inner }: Unpacked,
): void => {
  if (inner['name'] !== name)
    throw badPackage(`The package.json in the tarball says that it is ${quoted(inner['name'])}, not ${name}.`)
  const innerVersion = typeof inner['version'] === 'string' ? valid(inner['version']) : null
  if (innerVersion !== version)
    throw badPackage(`The package.json in the tarball is of version ${quoted(inner['version'])}, not ${version}.`)
}

/** What the service says itself of a version, or of its package. */
const ownFields = new Set([
  'dist',
  'readme',
  'deprecated',
  '_attachments',
  '_rev',
  '_id',
  '_npmUser',
  'name',
  'version',
])

/** A manifest as it is kept: what was published, and who did it. */
export const manifestText = (
  { name, version, manifest }: Claimed,
  { hasShrinkwrap, isBuilt }: Unpacked,
  publisher: string,
): string => {
  const kept = Object.entries(manifest).filter(([field]) => !ownFields.has(field))
  return JSON.stringify({
    name,
    version,
    ...Object.fromEntries(kept),
    ...(runsOnInstall(manifest) || (isBuilt && manifest['gypfile'] !== false) ? { hasInstallScript: true } : {}),
    _hasShrinkwrap: hasShrinkwrap,
    _id: `${name}@${version}`,
    _npmUser: { name: publisher, email: '' },
  })
}

/** Text of people as both engines can keep it. */
export const plainText = (text: string): string => text.toWellFormed().replaceAll('\0', '')
