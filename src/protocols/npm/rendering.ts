import type { NpmPackagesTable, NpmVersionsTable } from '../../database/tables/npm.ts'
import type { Form } from './documents.ts'
import { type Fields, hasOf, objectOf } from './fields.ts'
import { registryMark, tarballName } from './vocabulary.ts'

/** What a version is in documents is made of these. */
export type Rendered = Pick<
  NpmVersionsTable,
  | 'name'
  | 'version'
  | 'manifest'
  | 'sha1'
  | 'sha512'
  | 'files'
  | 'unpacked_size'
  | 'attestations'
  | 'deprecated'
  | 'published_at'
>

/** What clients that install need of a manifest. */
const abbreviatedFields = [
  'name',
  'version',
  'dependencies',
  'acceptDependencies',
  'optionalDependencies',
  'devDependencies',
  'bundleDependencies',
  'bundledDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bin',
  'directories',
  'engines',
  '_hasShrinkwrap',
  'hasInstallScript',
  'funding',
  'cpu',
  'os',
  'libc',
] as const

/**
 * A version as it stands in a document: what was published, and what the service says itself. The address of the
 * registry is left open.
 */
export const versionText = (row: Rendered, form: Form): string => {
  const published = form === 'full' ? row.manifest : abbreviated(row.manifest)
  const deprecated = row.deprecated === null ? '' : `,"deprecated":${JSON.stringify(row.deprecated)}`
  return `${published.slice(0, -1)}${deprecated},"dist":${distText(row)}}`
}

const abbreviated = (manifest: string): string => JSON.stringify(abbreviatedOf(objectOf(JSON.parse(manifest))))

/** What the short form tells of a manifest. */
export const abbreviatedOf = (all: Fields): Fields => {
  const told = abbreviatedFields.filter((field) => hasOf(all, field)).map((field) => [field, all[field]] as const)
  return Object.fromEntries(told)
}

/** Where clients find the tarball of a version, as JSON. */
export const tarballAddressText = (name: string, version: string): string =>
  addressText(`/${name}/-/${tarballName(name, version)}`)

const distText = ({ name, version, sha1, sha512, files, unpacked_size, attestations }: Rendered): string => {
  const told = JSON.stringify({
    integrity: `sha512-${sha512}`,
    shasum: sha1,
    fileCount: files,
    unpackedSize: unpacked_size,
  })
  const tarball = `"tarball":${tarballAddressText(name, version)}`
  const provenance =
    attestations === null
      ? ''
      : `,"attestations":{"url":${addressText(`/-/npm/v1/attestations/${name}@${version}`)},"provenance":${provenanceText(attestations)}}`
  return `${told.slice(0, -1)},${tarball}${provenance}}`
}

/** An address below that of the registry, as JSON. */
const addressText = (path: string): string => `"${registryMark}${JSON.stringify(path).slice(1)}`

const provenanceText = (attestations: string): string => {
  const all: unknown = JSON.parse(attestations)
  const first = objectOf(Array.isArray(all) ? all[0] : null)
  return JSON.stringify({ predicateType: first['predicateType'] ?? null })
}

/** What a package is beside its versions. */
export type RenderedPackage = Pick<
  NpmPackagesTable,
  'id' | 'name' | 'revision' | 'created_at' | 'modified_at' | 'maintainers' | 'stars'
>

/** By which clients say of which state of a package they speak. */
export const revisionText = ({ id, revision }: Pick<NpmPackagesTable, 'id' | 'revision'>): string =>
  `${revision}-${id.replaceAll('-', '')}`

/** Fields of the newest version that are told of the package as well. */
export const lifted = ['license', 'homepage', 'keywords', 'repository', 'bugs', 'author', 'contributors'] as const

/** The texts of the row of documents. */
export const frameTexts = (
  row: RenderedPackage,
  tags: readonly { readonly tag: string; readonly version: string }[],
  latest: Pick<NpmVersionsTable, 'manifest' | 'readme'> | undefined,
) => {
  const manifest = objectOf(JSON.parse(latest?.manifest ?? '{}'))
  const distTags = JSON.stringify(Object.fromEntries(tags.map(({ tag, version }) => [tag, version])))
  const described = manifest['description']
  const first = {
    _id: row.name,
    _rev: revisionText(row),
    name: row.name,
    ...(typeof described === 'string' ? { description: described } : {}),
  }
  const stars: unknown = JSON.parse(row.stars)
  const last = {
    maintainers: JSON.parse(row.maintainers) as unknown,
    users: Object.fromEntries((Array.isArray(stars) ? stars : []).map((name) => [String(name), true])),
    readme: latest?.readme ?? '',
    readmeFilename: manifest['readmeFilename'] ?? '',
    ...Object.fromEntries(lifted.filter((field) => hasOf(manifest, field)).map((field) => [field, manifest[field]])),
    _attachments: {},
  }
  const short = { name: row.name, modified: row.modified_at }
  return {
    head: `${JSON.stringify(first).slice(0, -1)},"dist-tags":${distTags},`,
    times: JSON.stringify({ created: row.created_at, modified: row.modified_at }).slice(1, -1),
    tail: `,${JSON.stringify(last).slice(1)}`,
    abbreviated_head: `${JSON.stringify(short).slice(0, -1)},"dist-tags":${distTags},`,
  }
}

/** What some versions are in the pieces of documents. */
export const pieceTexts = (rows: readonly Rendered[]) => {
  const members = (text: (row: Rendered) => string): string =>
    rows.map((row) => `${JSON.stringify(row.version)}:${text(row)}`).join(',')
  return {
    versions: members((row) => versionText(row, 'full')),
    abbreviated: members((row) => versionText(row, 'abbreviated')),
    times: members(({ published_at }) => JSON.stringify(published_at)),
  }
}
