import type { TObject } from 'typebox'
import { type FailureCode, failures } from '../kernel/failure.ts'
import {
  changes,
  isOnReaders,
  listedActions,
  needsNothing,
  type Operation,
  type ResponseKind,
  reads,
  shownPath,
  surfaceMeanings,
  surfaces,
} from './operation.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/**
 * Rewrites a JSON Schema of ours (draft 2020-12) in the words of OpenAPI 3.0.3, which knows no `null` type and no
 * `const`.
 */
export const toOpenApiSchema = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(toOpenApiSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const branches = schema['anyOf']
  if (Array.isArray(branches)) {
    const real = branches.filter((branch) => !isNullType(branch)).map(toOpenApiSchema)
    const nullable = real.length < branches.length
    const [only] = real
    const inner = real.length === 1 && isRecord(only) ? only : { anyOf: real }
    return nullable ? { ...inner, nullable: true } : inner
  }
  const rewritten: { [name: string]: Json } = {}
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'const') rewritten['enum'] = [value]
    else if (name === 'patternProperties' && isRecord(value))
      rewritten['additionalProperties'] = toOpenApiSchema(Object.values(value)[0] ?? {})
    else if (name === 'properties' && isRecord(value))
      rewritten['properties'] = Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, toOpenApiSchema(each)]),
      )
    else if (name === 'additionalProperties' && 'patternProperties' in schema) continue
    else if (name === 'propertyNames') continue
    else rewritten[name] = toOpenApiSchema(value)
  }
  if ('enum' in rewritten && !('type' in rewritten)) rewritten['type'] = 'string'
  return rewritten
}

const isRecord = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isNullType = (value: Json): boolean => isRecord(value) && value['type'] === 'null'

/** Schemas are plain JSON under their types; the round trip drops what is not. */
const plain = (schema: unknown): Json => toOpenApiSchema(JSON.parse(JSON.stringify(schema)))

const parameters = (schema: TObject, section: 'path' | 'query' | 'header'): Json[] => {
  const required: unknown = schema['required']
  return Object.entries(schema.properties).map(([name, each]) => ({
    name,
    in: section,
    required: section === 'path' || (Array.isArray(required) && required.includes(name)),
    schema: plain(each),
  }))
}

/**
 * Headers that no parameter of the query is named like: generators of clients tell the two apart by their names alone,
 * and not by their case. A header that is left out may still be sent. That of credentials is what `security` is about.
 */
const headerParameters = ({ headers, query }: Operation): Json[] => {
  const taken = new Set(['authorization', ...Object.keys(query.properties).map((name) => name.toLowerCase())])
  return parameters(headers, 'header').filter(
    (each) => !(isRecord(each) && taken.has(String(each['name']).toLowerCase())),
  )
}

const problem: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(failures) },
    detail: { type: 'string' },
    requestId: { type: 'string' },
    retryAfterSeconds: { type: 'integer' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'message'],
        properties: { pointer: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const response = (kind: ResponseKind): Json => {
  const described: { [name: string]: Json } = { description: kind.description }
  if (kind.schema !== null)
    described['content'] = { [kind.mediaType ?? 'application/json']: { schema: plain(kind.schema) } }
  else if (kind.mediaType !== undefined)
    described['content'] = { [kind.mediaType]: { schema: { type: 'string', format: 'binary' } } }
  if (kind.headers !== undefined)
    described['headers'] = Object.fromEntries(
      Object.entries(kind.headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
    )
  return described
}

/** What the one door out may answer beside bytes. */
const downloadFailures = ['precondition_failed', 'range_not_satisfiable', 'download_queued', 'busy'] as const

/** Every reason code that an operation may answer with: its own, and those that its access, input and body bring. */
export const failureCodes = (operation: Operation): FailureCode[] => {
  const codes = new Set<FailureCode>([
    'invalid_request',
    'origin_not_allowed',
    'internal',
    'not_implemented',
    'unavailable',
  ])
  if (operation.access.kind !== 'anyone')
    for (const code of [
      'credential_missing',
      'credential_invalid',
      'session_expired',
      'token_expired',
      'permission_missing',
    ] as const)
      codes.add(code)
  if (changes(operation)) codes.add('read_only_token')
  const hidden = operation.access.kind === 'own-job' || operation.pathParameters.properties['repository'] !== undefined
  if (hidden) codes.add('not_found')
  if (operation.body.kind !== 'none') codes.add('body_too_large').add('unsupported_media_type').add('upload_deadline')
  if (operation.body.kind === 'stream' || operation.body.kind === 'bytes')
    codes.add('checksum_mismatch').add('precondition_failed')
  if (operation.body.kind === 'bytes') codes.add('busy')
  if (operation.download) for (const code of downloadFailures) codes.add(code)
  // On a read gateway.
  if (!isOnReaders(operation)) codes.add('method_not_allowed')
  // Health operations go on while the service drains, and cost no budget.
  if (!operation.whileDraining) codes.add('draining').add('rate_limited')
  for (const code of operation.failures) codes.add(code)
  // When the disk of the database is full.
  if (!reads(operation)) codes.add('insufficient_space')
  return [...codes]
}

const problems = (operation: Operation): { [status: string]: Json } => {
  const byStatus = new Map<number, FailureCode[]>()
  for (const code of failureCodes(operation)) {
    const status = failures[code][0]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.sort().join(', '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

const body = (operation: Operation): { [name: string]: Json } => {
  if (operation.body.kind === 'json')
    return {
      requestBody: {
        required: !needsNothing(operation),
        content: { 'application/json': { schema: plain(operation.body.schema) } },
      },
    }
  if (operation.body.kind === 'stream' || operation.body.kind === 'bytes') {
    const type = operation.body.mediaTypes?.[0] ?? '*/*'
    return { requestBody: { required: true, content: { [type]: { schema: { type: 'string', format: 'binary' } } } } }
  }
  return {}
}

const pathItem = (operation: Operation): Json => ({
  operationId: operation.id,
  summary: operation.summary,
  tags: [operation.surface],
  ...(operation.access.kind === 'anyone' ? { security: [] } : {}),
  ...(operation.linkable ? { security: [{ bearer: [] }, { link: [] }] } : {}),
  parameters: [
    ...parameters(operation.pathParameters, 'path'),
    ...parameters(operation.query, 'query'),
    ...headerParameters(operation),
  ],
  ...body(operation),
  responses: {
    ...problems(operation),
    ...Object.fromEntries(Object.entries(operation.responses).map(([status, kind]) => [status, response(kind)])),
  },
  'x-svc-surface': operation.surface,
  'x-svc-visibility': operation.visibility,
  'x-svc-access': operation.access.kind,
  'x-svc-required-actions': listedActions(operation),
  'x-svc-link': operation.linkable,
  'x-svc-retry': operation.retry,
  'x-svc-conditions': [...operation.conditions],
  'x-svc-reader': isOnReaders(operation),
})

/**
 * The OpenAPI 3.0.3 document of these operations; the same for every caller. `server` is the address that paths go
 * below.
 */
export const openApiDocument = (operations: readonly Operation[], version: string, server = '/'): Json => {
  const paths: { [path: string]: { [method: string]: Json } } = {}
  for (const operation of operations) {
    const path = shownPath(operation)
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: pathItem(operation) }
  }
  return {
    openapi: '3.0.3',
    info: {
      title: 'svc',
      version,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: server }],
    tags: surfaces.map((name) => ({ name, description: surfaceMeanings[name] })),
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        link: {
          type: 'apiKey',
          in: 'query',
          name: 'token',
          description: 'A download link; looked at only when there is no Authorization header',
        },
      },
      schemas: { Problem: problem },
    },
  }
}
