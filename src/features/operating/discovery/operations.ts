import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { OperationItem } from '../../../contract/listing.ts'
import { surfaces } from '../../../contract/operation.ts'
import { ByteCount, fields, nullable, oneOf, pageLimit, RepositoryId } from '../../../contract/schemas.ts'
import { patterns } from '../../../kernel/names.ts'

const discovery = {
  method: 'GET',
  surface: 'discovery',
  visibility: 'authenticated',
  access: { kind: 'credential' },
  retry: 'read',
} as const

const Role = oneOf(['api', 'reader'] as const)

export const getCapabilities = defineOperation({
  ...discovery,
  id: 'getCapabilities',
  path: '/api/v1/capabilities',
  summary: 'What this service can do, and its limits',
  responses: {
    200: answers(
      'The capabilities',
      fields({
        apiVersions: Type.Array(Type.String()),
        gatewayRole: Role,
        features: Type.Record(Type.String(), Type.Boolean()),
        limits: fields({
          maxObjectBytes: ByteCount,
          partBytes: Type.Integer(),
          maxPartBytes: Type.Integer(),
          maxParts: Type.Integer(),
          maxPageSize: Type.Integer(),
        }),
      }),
    ),
  },
})

export const getOpenApi = defineOperation({
  ...discovery,
  id: 'getOpenApi',
  path: '/api/v1/openapi.json',
  summary: 'The OpenAPI document of this deployment',
  query: fields({ surface: Type.Optional(oneOf(surfaces)) }),
  responses: {
    200: answers(
      'An OpenAPI 3.0.3 document',
      Type.Object({ openapi: Type.String(), info: Type.Object({}), paths: Type.Object({}) }),
    ),
  },
})

export const listOperations = defineOperation({
  ...discovery,
  id: 'listOperations',
  path: '/api/v1/operations',
  summary: 'List the operations, optionally those open to the caller in a repository',
  query: fields({
    repository: Type.Optional(RepositoryId),
    surface: Type.Optional(oneOf(surfaces)),
    after: Type.Optional(Type.String({ pattern: patterns.operationId, description: 'an operation id' })),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      'A page ordered by operation id; advice, not a promise',
      fields({
        apiVersion: Type.String(),
        documentVersion: Type.String(),
        gatewayRole: Role,
        repository: nullable(RepositoryId),
        advisory: Type.Boolean(),
        items: Type.Array(OperationItem, { maxItems: 100 }),
        next: nullable(Type.String()),
      }),
    ),
  },
  failures: ['not_found'],
})
