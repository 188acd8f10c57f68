import { valid } from 'semver'
import type { Database, Queries } from '../../database/database.ts'
import { entityTagsWanted, parseEntityTags } from '../../kernel/entity-tags.ts'
import { invalid } from '../../kernel/failure.ts'
import { httpDateText, isNotLater } from '../../kernel/http-dates.ts'
import { npmCompressedFromBytes } from '../../kernel/limits/npm.ts'
import { type DocumentSource, type Documents, type Form, ownDocuments } from './documents.ts'
import { findFile, findVersion, packageState, taggedVersion, tagsOf } from './packages.queries.ts'
import { packageUnknown, versionUnknown } from './refusals.ts'
import { revisionText, versionText } from './rendering.ts'
import { isPackageName, isTag, registryMark, shortName } from './vocabulary.ts'

export interface ReadingDeps {
  readonly database: Pick<Database, 'reader'>
  readonly documents: Documents
}

/** A package by its name. */
export interface PackageName {
  readonly repository: string
  readonly name: string
}

/** What a client asks of a document. */
export interface AskedDocument {
  readonly form: Form
  /** The address of the registry. */
  readonly registry: string
  readonly takesGzip: boolean
  readonly ifNoneMatch: string | undefined
  readonly ifModifiedSince: string | undefined
}

/** A document as it is answered. */
export interface FoundDocument {
  readonly headers: Readonly<Record<string, string>>
  /** Null where the client has it. */
  readonly bytes: Uint8Array | null
}

/** A state of a package, and where its documents stand. */
export interface ReadPackage {
  readonly id: string
  readonly revision: number
  readonly modified_at: string
  readonly source: DocumentSource
}

/** A package that is published here. */
export const ownPackage = async (
  { database }: Pick<ReadingDeps, 'database'>,
  here: PackageName,
): Promise<ReadPackage | null> => {
  const state = await packageState(database.reader, here)
  return state === undefined ? null : { ...state, source: ownDocuments }
}

/** The document of a package in the form that is asked for. 404 where it went meanwhile. */
export const documentOf = async (
  { documents }: Pick<ReadingDeps, 'documents'>,
  name: string,
  { source, ...state }: ReadPackage,
  { form, registry, takesGzip, ifNoneMatch, ifModifiedSince }: AskedDocument,
): Promise<FoundDocument> => {
  const headers = {
    vary: 'Accept, Accept-Encoding',
    'cache-control': 'private, no-cache',
    'last-modified': httpDateText(state.modified_at),
  }
  const mine = etagsOf(form, revisionText(state))
  const known = ifNoneMatch === undefined ? null : etagAmong(ifNoneMatch, [mine.plain, mine.gzip])
  const isKnown =
    ifNoneMatch === undefined
      ? ifModifiedSince !== undefined && isNotLater(state.modified_at, ifModifiedSince)
      : known !== null
  if (isKnown) {
    return { headers: { ...headers, etag: known ?? mine.plain }, bytes: null }
  }
  const wanted = { packageId: state.id, revision: state.revision, form, registry }
  const plain = await documents.get({ ...wanted, compressed: false }, source)
  if (plain === null) throw packageUnknown(name)
  const compresses = takesGzip && plain.bytes.byteLength >= npmCompressedFromBytes
  const sent = compresses ? await documents.get({ ...wanted, compressed: true }, source) : plain
  if (sent === null) throw packageUnknown(name)
  const etags = etagsOf(form, revisionText({ id: state.id, revision: sent.revision }))
  return {
    headers: compresses
      ? { ...headers, etag: etags.gzip, 'content-encoding': 'gzip' }
      : { ...headers, etag: etags.plain },
    bytes: sent.bytes,
  }
}

/** Each form has its own, and each coding of it. */
const etagsOf = (form: Form, revision: string) => ({
  plain: `"${revision}-${form}"`,
  gzip: `"${revision}-${form}-gzip"`,
})

/** The one of ours that a client names, the first one where it takes any; null for none. */
const etagAmong = (sent: string, ours: readonly [string, ...string[]]): string | null => {
  const tags = parseEntityTags(sent)
  if (tags === null) throw invalid('/headers/if-none-match', entityTagsWanted)
  if (tags === '*') return ours[0]
  return tags.map(({ opaque }) => opaque).find((opaque) => ours.includes(opaque)) ?? null
}

/** The manifest of a version that is published here, which a tag may name, as JSON; null without one. */
export const manifestOf = async (
  { database }: Pick<ReadingDeps, 'database'>,
  here: PackageName,
  called: string,
  registry: string,
): Promise<string | null> => {
  const q = database.reader
  const version = valid(called) ?? (isTag(called) ? await taggedVersion(q, here, called) : undefined)
  const found = version === undefined ? undefined : await findVersion(q, here, version)
  return found === undefined ? null : versionText(found, 'full').replaceAll(registryMark, registry)
}

/** The version whose tarball a client calls so, also with the scope before its name; null for a file that is none. */
export const versionIn = (name: string, file: string): string | null => {
  const short = shortName(name)
  const called = file.startsWith(`${name}-`) ? file.slice(name.length - short.length) : file
  const version = called.startsWith(`${short}-`) && called.endsWith('.tgz') ? called.slice(short.length + 1, -4) : ''
  return valid(version) === version ? version : null
}

/** The same of one that is published here. */
export const versionOfFile = async (q: Queries, here: PackageName, file: string): Promise<string | null> => {
  const version = versionIn(here.name, file)
  return version !== null && (await findFile(q, here, version)) !== undefined ? version : null
}

/** Tags of a package with their versions, and the state of it that they are of, or an older one. */
export interface ReadTags {
  readonly state: Pick<ReadPackage, 'id' | 'revision'>
  readonly tags: Readonly<Record<string, string>>
}

/** Those of a package that is published here; null without one. */
export const distTagsOf = async (q: Queries, here: PackageName): Promise<ReadTags | null> => {
  const state = await packageState(q, here)
  if (state === undefined) return null
  return { state, tags: Object.fromEntries((await tagsOf(q, state.id)).map(({ tag, version }) => [tag, version])) }
}

/** What says which tags they are, and whether a client has them. */
export const knownTags = ({ state }: ReadTags, ifNoneMatch: string | undefined) => {
  const etag = `"${revisionText(state)}-tags"`
  const isKnown = ifNoneMatch !== undefined && etagAmong(ifNoneMatch, [etag]) !== null
  return { headers: { etag, 'cache-control': 'private, no-cache' }, isKnown }
}

/** The attestations of a version, called `name@version`, as JSON. 404 without any. */
export const attestationsAt = async (q: Queries, repository: string, called: string): Promise<string> => {
  const at = called.lastIndexOf('@')
  const [name, version] = [called.slice(0, at), valid(called.slice(at + 1))]
  const found =
    !isPackageName(name) || version === null ? undefined : await findVersion(q, { repository, name }, version)
  if (found?.attestations == null) throw versionUnknown(name, called.slice(at + 1))
  return `{"attestations":${found.attestations}}`
}
