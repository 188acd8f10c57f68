import { hash } from 'node:crypto'
import type { Operation } from '../../src/contract/operation.ts'
import { patterns } from '../../src/kernel/names.ts'
import { lfsMediaType, patterns as lfsPatterns } from '../../src/protocols/lfs/vocabulary.ts'
import { patterns as ociPatterns } from '../../src/protocols/oci/vocabulary.ts'

/** The file of all examples is the five bytes `hello`. */
const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

/** What ids and times are in examples: the same in all of them. */
export const exampleId = '01a1fe8f-6777-7329-9d3f-237dcd12a10a'
export const exampleRepository = 'releases'
const time = '2026-11-21T14:42:53.431Z'

/** Texts by the name of their field, where the grammar of the field says less than a reader wants to see. */
const byName: Readonly<Record<string, string>> = {
  access: 'write',
  actor: `account:${exampleId}`,
  action: 'artifact.read',
  apiVersion: 'v1',
  assetPath: 'app/1.0.0/app.tar.gz',
  caller: 'owner',
  code: 'not_found',
  comment: 'release 1.0',
  currentPassword: 'correct horse battery staple',
  description: 'CycloneDX 1.6',
  documentVersion: '0.1.0',
  digest: `sha256:${sha256}`,
  group: 'tools',
  id: exampleId,
  image: 'hello',
  index: '0',
  key: 'deployment/production',
  label: 'nightly',
  labels: 'nightly',
  name: 'hello',
  newPassword: 'another long pass phrase',
  package: 'hello',
  password: 'correct horse battery staple',
  next: 'cmVsZWFzZXM',
  path: 'app/1.0.0/app.tar.gz',
  peerImage: 'hello',
  paths: 'app/1.0.0/app.tar.gz',
  patterns: 'v*',
  protectedLabels: 'release',
  q: 'hello',
  requestId: 'mwq0k3zt-17',
  reference: 'latest',
  repositories: `${exampleRepository}/hello`,
  repository: exampleRepository,
  secret: 'shown once',
  size: '5',
  stage: 'tested',
  stages: 'tested',
  reserved: '@acme/*',
  subPath: 'team/app',
  summary: 'What it does',
  target: 'builds',
  targetImage: 'hello',
  token: 'shown once',
  tag: 'latest',
  tags: 'latest',
  url: 'https://registry.npmjs.org',
  version: '1.0.0',
}

const byPattern: Readonly<Record<string, string>> = {
  [patterns.uuid]: exampleId,
  [patterns.uuids]: exampleId,
  [patterns.idCursor]: exampleId,
  [patterns.sequenceCursor]: '1',
  [patterns.contentCursor]: '0.1.512',
  [patterns.timeCursor]: `1795272173431_${exampleId}`,
  [patterns.sha256]: sha256,
  [patterns.repositoryId]: exampleRepository,
  [patterns.byteCount]: '5',
  [patterns.sequence]: '1',
  [patterns.utcMilliseconds]: time,
  [patterns.dateTime]: '2027-11-21T14:42:53.431Z',
  [patterns.downloadId]: 'nightly-mirror-0001',
  [ociPatterns.digest]: `sha256:${sha256}`,
  [lfsPatterns.offset]: '0',
}

const indexType = 'application/vnd.oci.image.index.v1+json'
/** The manifest of all examples, and one that nobody wants. */
const index = `{"schemaVersion":2,"mediaType":"${indexType}","manifests":[]}`
export const unwantedIndex = `{"schemaVersion":2,"mediaType":"${indexType}","manifests":[],"annotations":{"wanted":"no"}}`

/** Objects of Git LFS that nobody wants, and that somebody missed. */
export const unwantedObject = 'unwanted'
export const missedObject = 'missed'
const [unwantedOid, missedOid] = [hash('sha256', unwantedObject), hash('sha256', missedObject)]

/** Bodies in which fields depend on one another. */
const bodies: Readonly<Record<string, object>> = {
  putStoragePolicy: {
    expectedRevision: 0,
    policy: {
      enabled: true,
      grouping: 'package-channel',
      keepLast: 10,
      channels: [{ label: 'nightly', keepLast: 1 }],
      protectedLabels: ['release'],
      minAgeHours: 24,
      intervalMinutes: 1440,
      quotaBytes: '1000000000',
      warningPercent: 80,
      criticalPercent: 95,
    },
  },
  createRepository: { id: 'images' },
  forgetAssetRevisions: { path: 'app/1.0.0/replaced.tar.gz', through: 1 },
  createUser: { name: 'ann', password: 'correct horse battery staple', administrator: false },
  login: { name: 'owner', password: 'correct horse battery staple' },
  putAsset: { path: 'app/latest/app.tar.gz', artifactId: exampleId, expectedRevision: 0 },
  removeAsset: { path: 'app/1.0.0/unwanted.tar.gz', expectedRevision: 1 },
  putLfsSettings: { expectedRevision: 0, locking: true },
  putImmutableTags: { expectedRevision: 0, patterns: ['v*', 'release-*'] },
  deleteBackupPoint: { confirm: '2026-01-01T00:00:00.000Z' },
  putBackupPlan: {
    expectedRevision: 0,
    enabled: true,
    hour: 2,
    minute: 0,
    timezone: 'Europe/Berlin',
    retention: { daily: 7, weekly: 4, monthly: 6 },
  },
  restoreNpmVersion: { package: 'brought-back', version: '1.0.0' },
  register: { name: 'ben', password: 'correct horse battery staple' },
  runStoragePolicy: { expectedRevision: 1 },
  setCleanup: { expectedRevision: 0, graceHours: 48 },
  setImageTag: { image: 'hello', tag: 'stable', digest: `sha256:${hash('sha256', index)}`, expectedDigest: null },
  updateUser: { enabled: false },
  putNpmUpstream: { url: 'https://registry.npmjs.org', reserved: ['@acme/*', 'internal-*'] },
}

/** Bytes of a media type, where they are not just any. */
const files: Readonly<Record<string, readonly [mediaType: string, text: string]>> = {
  putManifest: [indexType, index],
  putNpmUser: ['application/json', JSON.stringify({ name: 'owner', password: 'correct horse battery staple' })],
  beginNpmSignIn: ['application/json', '{}'],
  confirmNpmSignIn: ['application/x-www-form-urlencoded', 'name=owner&password=correct+horse+battery+staple'],
  createNpmToken: ['application/json', JSON.stringify({ password: 'correct horse battery staple', readonly: true })],
  setNpmAccess: ['application/json', '{"access":"restricted"}'],
  listNpmAdvisories: ['application/json', JSON.stringify({ hello: ['1.0.0'] })],
  askLfsBatch: [lfsMediaType, JSON.stringify({ operation: 'download', objects: [{ oid: sha256, size: 5 }] })],
  createLfsLock: [lfsMediaType, JSON.stringify({ path: 'art/cover.psd', ref: { name: 'refs/heads/main' } })],
  verifyLfsLocks: [lfsMediaType, '{}'],
  removeLfsLock: [lfsMediaType, JSON.stringify({ force: true })],
  verifyLfsObject: [lfsMediaType, JSON.stringify({ oid: sha256, size: 5 })],
  putPackage: ['application/json', '{"_id":"hello","users":{"owner":true}}'],
  putPackageAt: ['application/json', '{"_id":"hello","maintainers":[{"name":"owner","email":""}]}'],
  setDistTag: ['application/json', '"1.0.0"'],
}

/** What a path names, where it is not what the others do. */
const paths: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deleteBlob: { digest: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' },
  deleteDistTag: { tag: 'unneeded' },
  deleteManifest: { reference: 'unwanted' },
  deletePackage: { package: 'unwanted', revision: exampleId },
  deleteRepository: { repository: 'images' },
  deleteLfsObject: { oid: unwantedOid },
  restoreLfsObject: { oid: missedOid },
  deleteTarball: { file: 'hello-0.9.0.tgz' },
  getAttestations: { version: 'hello@1.0.0' },
  getNpmTarball: { file: 'hello-1.0.0.tgz' },
  putPackageAt: { revision: exampleId },
  removeRaw: { assetPath: 'app/1.0.0/leaked.tar.gz' },
  putNpmUser: { user: 'org.couchdb.user:owner' },
  getNpmUser: { user: 'org.couchdb.user:owner' },
  endNpmToken: { token: 'pat_shown-once' },
  revokeNpmToken: { key: exampleId },
}

/** Of a query, what has to be there besides in some cases. */
const queries: Readonly<Record<string, readonly string[]>> = {
  beginBlob: ['digest'],
  explainAccess: ['repository'],
  dropCachedNpmPackages: ['package'],
}

/** What a query says, where it is not what the others do. */
const queryTexts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deleteImageManifest: { digest: `sha256:${hash('sha256', unwantedIndex)}` },
  deleteImageTag: { tag: 'unneeded' },
  deleteNpmVersion: { package: 'mistaken' },
  appendToLfsObject: { size: '5' },
  getLfsUpload: { size: '5' },
  listCachedNpmVersions: { package: '@outside/kept' },
  dropCachedNpmPackages: { package: '@outside/kept' },
}

const fieldsOf = (value: unknown): Record<string, unknown> => ({ ...(typeof value === 'object' ? value : {}) })

const textOf = (schema: Record<string, unknown>, name: string): string => {
  const { pattern, format, minLength = 0, maxLength } = schema
  if (format === 'date-time') return time
  // An id of a repository is not one of a thing in it.
  const named = name === 'id' && pattern === patterns.repositoryId ? undefined : byName[name]
  const fits = (text: string): boolean =>
    (pattern === undefined || new RegExp(String(pattern), 'u').test(text)) &&
    text.length >= Number(minLength) &&
    (maxLength === undefined || text.length <= Number(maxLength))
  if (named !== undefined && fits(named)) return named
  const made = byPattern[String(pattern)]
  if (made !== undefined) return made
  return fits(name) ? name : 'hello'
}

/**
 * One value that a schema takes, always the same, with all of its fields. Of what may be chosen it is the first that is
 * not null.
 */
const exampleOf = (schema: unknown, name = ''): unknown => {
  const given = fieldsOf(schema)
  const { type, anyOf, enum: values, const: only, properties, patternProperties, items, minItems } = given
  if (only !== undefined) return only
  if (Array.isArray(values)) return values.includes(byName[name]) ? byName[name] : values[0]
  if (Array.isArray(anyOf)) return exampleOf(anyOf.find((each) => fieldsOf(each)['type'] !== 'null') ?? anyOf[0], name)
  if (type === 'object') {
    if (properties === undefined && patternProperties !== undefined)
      return recordOf(Object.values(fieldsOf(patternProperties)))
    return Object.fromEntries(Object.entries(fieldsOf(properties)).map(([key, each]) => [key, exampleOf(each, key)]))
  }
  if (type === 'array') return listOf(items, Number(minItems ?? 1), name)
  if (type === 'integer' || type === 'number') return given['default'] ?? given['minimum'] ?? 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'string') return textOf(given, name)
  return {}
}

/** So many as there have to be, one at least. */
const listOf = (items: unknown, atLeast: number, name: string): unknown[] => {
  const { enum: values } = fieldsOf(items)
  if (Array.isArray(values) && atLeast > 1) return values.slice(0, atLeast)
  return [exampleOf(items, name)]
}

const recordOf = ([schema]: unknown[]): Record<string, unknown> => {
  const { type } = fieldsOf(schema)
  return type === 'string' ? { commit: '4f2a1c9' } : type === 'boolean' ? { feature: true } : {}
}

export interface ExampleRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON for JSON, a text for bytes, null for none. */
  readonly body: object | string | null
}

/** Parameters that have to be there, and a body with all that may be in it. */
export const exampleRequest = (operation: Operation): ExampleRequest => {
  const { id, body, headers, method, pathParameters, query } = operation
  const required = (schema: object, besides: readonly string[] = []): [string, unknown][] => {
    const { properties, required: names = [] } = fieldsOf(schema)
    const wanted = Array.isArray(names) ? [...names, ...besides] : besides
    return Object.entries(fieldsOf(properties)).filter(([name]) => wanted.includes(name))
  }
  const text = (name: string, schema: unknown): string => String(exampleOf(schema, name))
  const path = operation.path.replaceAll(
    /\{([a-zA-Z]+)[*+]?\}/g,
    (_, name: string) =>
      paths[id]?.[name] ??
      (name === 'assetPath' ? 'app/1.0.0/app.tar.gz' : text(name, pathParameters.properties[name])),
  )
  const search = new URLSearchParams(
    required(query, queries[id]).map(([name, schema]) => [name, queryTexts[id]?.[name] ?? text(name, schema)]),
  )
  const sent = Object.fromEntries(
    required(headers).map(([name, schema]) => [name, name === 'idempotency-key' ? `${id}-1` : text(name, schema)]),
  )
  const address = search.size === 0 ? path : `${path}?${search}`
  if (body.kind === 'json') {
    const json = bodies[id] ?? fieldsOf(exampleOf(body.schema))
    return { method, path: address, headers: { ...sent, 'content-type': 'application/json' }, body: json }
  }
  if (body.kind === 'none') return { method, path: address, headers: sent, body: null }
  const [type, file] = files[id] ?? [body.mediaTypes?.[0] ?? 'text/plain', 'hello']
  return { method, path: address, headers: { ...sent, 'content-type': type }, body: file }
}

/** What comes back when it went well, by its status. */
export const exampleAnswer = ({
  responses,
}: Operation): { readonly status: number; readonly body: object | string | null } => {
  const [[status, kind] = []] = Object.entries(responses)
  if (status === undefined || kind === undefined) throw new Error('an operation without an answer')
  const json = kind.schema === null ? null : fieldsOf(exampleOf(kind.schema))
  return { status: Number(status), body: json ?? (kind.mediaType === undefined ? null : 'hello') }
}
