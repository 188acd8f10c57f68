import Type, { type TProperties } from 'typebox'
import { answers, bytesBody, defineOperation } from '../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../contract/download.ts'
import { fields } from '../../contract/schemas.ts'
import { npmSearchPageMax, npmTagBodyMaxBytes } from '../../kernel/limits/npm.ts'

const inPackage = { repository: Type.String(), package: Type.String() }

/** Clients add parameters of their own to addresses: those that nobody knows are passed over. */
const asked = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: true })
const nothingAsked = asked({})

/** Which registries asked on behalf of others, so that none asks itself. */
const via = Type.Optional(Type.String({ description: 'registries between the client and this one' }))

const registry = '/npm/{repository}'
/** Of what is looked for in another registry. */
const upstreamFailures = ['upstream_unusable', 'upstream_unavailable', 'busy'] as const
const common = { surface: 'transfers', visibility: 'repository', query: nothingAsked } as const
const reads = { kind: 'repository', actions: ['content.read'] } as const
const readsManifests = { kind: 'repository', actions: ['content.read', 'artifact.read'] } as const
const lists = { kind: 'repository', actions: ['artifact.list'] } as const

export const getNpmRegistry = defineOperation({
  ...common,
  id: 'getNpmRegistry',
  method: 'GET',
  path: registry,
  summary: 'Find out whether this is a registry',
  pathParameters: fields({ repository: Type.String() }),
  access: { kind: 'repository', actions: ['content.read'] },
  retry: 'read',
  responses: { 200: answers('It is one', Type.Object({})) },
})

export const getPackument = defineOperation({
  ...common,
  id: 'getPackument',
  method: 'GET',
  path: `${registry}/{package}`,
  summary: 'Get the document of a package, with all its versions, in the form that Accept asks for',
  pathParameters: fields(inPackage),
  access: readsManifests,
  retry: 'read',
  query: asked({ write: Type.Optional(Type.String({ description: 'the whole document, whatever Accept says' })) }),
  headers: fields({
    via,
    accept: Type.Optional(Type.String()),
    'accept-encoding': Type.Optional(Type.String()),
    'if-none-match': Type.Optional(Type.String()),
    'if-modified-since': Type.Optional(Type.String()),
  }),
  responses: {
    200: { description: 'The document', schema: null, mediaType: 'application/json' },
    304: { description: 'It is the one that the client has', schema: null },
  },
  failures: upstreamFailures,
})

export const getNpmManifest = defineOperation({
  ...common,
  id: 'getNpmManifest',
  method: 'GET',
  path: `${registry}/{package}/{version}`,
  summary: 'Get the manifest of a version, by its number or a tag',
  pathParameters: fields({ ...inPackage, version: Type.String() }),
  access: readsManifests,
  retry: 'read',
  headers: fields({ via }),
  failures: upstreamFailures,
  responses: { 200: { description: 'The manifest', schema: null, mediaType: 'application/json' } },
})

export const getNpmTarball = defineOperation({
  ...common,
  id: 'getNpmTarball',
  method: 'GET',
  path: `${registry}/{package}/-/{file}`,
  summary: 'Get the tarball of a version, or a range of it',
  pathParameters: fields({ ...inPackage, file: Type.String() }),
  access: reads,
  retry: 'read',
  download: true,
  headers: fields({ ...DownloadHeaders.properties, via }),
  failures: [...upstreamFailures, 'storage_quota', 'insufficient_space'],
  responses: downloadResponses,
})

export const listDistTags = defineOperation({
  ...common,
  id: 'listDistTags',
  method: 'GET',
  path: `${registry}/-/package/{package}/dist-tags`,
  summary: 'List the tags of a package with the versions that they are at',
  pathParameters: fields(inPackage),
  access: lists,
  retry: 'read',
  headers: fields({ via, 'if-none-match': Type.Optional(Type.String()) }),
  failures: upstreamFailures,
  responses: {
    200: answers('Versions by tag', Type.Record(Type.String(), Type.String())),
    304: { description: 'They are those that the client has', schema: null },
  },
})

const Done = fields({ ok: Type.Literal(true), success: Type.Literal(true), id: Type.String(), rev: Type.String() })
const done = answers('It is done; `rev` calls the state of the package from now on', Done)
const publishFailures = ['version_exists', 'body_too_large', 'storage_quota', 'insufficient_space', 'busy'] as const

export const putPackage = defineOperation({
  ...common,
  id: 'putPackage',
  method: 'PUT',
  path: `${registry}/{package}`,
  summary: 'Publish a version, or, without a tarball, deprecate versions or star a package',
  pathParameters: fields(inPackage),
  access: { kind: 'repository', actions: ['asset.write'] },
  retry: 'idempotent',
  body: { kind: 'stream', mediaTypes: null },
  responses: { 200: done, 201: done },
  failures: [...publishFailures, 'revision_mismatch'],
})

export const putPackageAt = defineOperation({
  ...common,
  id: 'putPackageAt',
  method: 'PUT',
  path: `${registry}/{package}/-rev/{revision}`,
  summary: 'Take the versions away that the document does not tell of, or say who the owners are',
  pathParameters: fields({ ...inPackage, revision: Type.String() }),
  access: { kind: 'repository', actions: [], oneOf: ['asset.write', 'artifact.delete'] },
  retry: 'compare-and-swap',
  body: { kind: 'stream', mediaTypes: null },
  responses: { 200: done },
  failures: ['revision_mismatch', 'body_too_large'],
})

export const deletePackage = defineOperation({
  ...common,
  id: 'deletePackage',
  method: 'DELETE',
  path: `${registry}/{package}/-rev/{revision}`,
  summary: 'Take a package away with all of its versions',
  pathParameters: fields({ ...inPackage, revision: Type.String() }),
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'compare-and-swap',
  responses: { 200: done },
  failures: ['revision_mismatch'],
})

export const deleteTarball = defineOperation({
  ...common,
  id: 'deleteTarball',
  method: 'DELETE',
  path: `${registry}/{package}/-/{file}/-rev/{revision}`,
  summary: 'Take the version away that a tarball is of, if it is there still',
  pathParameters: fields({ ...inPackage, file: Type.String(), revision: Type.String() }),
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  responses: { 200: answers('It is not there any more', fields({ ok: Type.Literal(true) })) },
})

const distTag = {
  ...common,
  path: `${registry}/-/package/{package}/dist-tags/{tag}`,
  pathParameters: fields({ ...inPackage, tag: Type.String() }),
  access: { kind: 'repository', actions: ['asset.write'] },
  retry: 'idempotent',
  responses: { 200: done },
} as const

export const setDistTag = defineOperation({
  ...distTag,
  id: 'setDistTag',
  method: 'PUT',
  summary: 'Move a tag to a version, which the body names',
  body: bytesBody(null, npmTagBodyMaxBytes),
})

export const deleteDistTag = defineOperation({
  ...distTag,
  id: 'deleteDistTag',
  method: 'DELETE',
  summary: 'Take a tag away',
})

export const searchNpmPackages = defineOperation({
  ...common,
  id: 'searchNpmPackages',
  method: 'GET',
  path: `${registry}/-/v1/search`,
  summary: 'Find packages by words in their names, descriptions and keywords',
  pathParameters: fields({ repository: Type.String() }),
  access: lists,
  retry: 'read',
  query: asked({
    text: Type.Optional(Type.String()),
    size: Type.Optional(Type.Integer({ minimum: 0, description: `at most ${npmSearchPageMax} are answered` })),
    from: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  responses: {
    200: answers(
      'Packages by name',
      fields({ objects: Type.Array(Type.Object({})), total: Type.Integer(), time: Type.String() }),
    ),
  },
})

export const getAttestations = defineOperation({
  ...common,
  id: 'getAttestations',
  method: 'GET',
  path: `${registry}/-/npm/v1/attestations/{version}`,
  summary: 'Get the attestations of a version, named as package@version',
  pathParameters: fields({ repository: Type.String(), version: Type.String() }),
  access: readsManifests,
  retry: 'read',
  responses: { 200: { description: 'Bundles of Sigstore', schema: null, mediaType: 'application/json' } },
})
