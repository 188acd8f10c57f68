import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import { ActorName, fields, nullable, OpaqueCursor, pageLimit, Timestamp, Uuid } from '../../../contract/schemas.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'

const shared = {
  path: '/api/v1/repositories/{repository}/artifacts/{id}/references',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['reference.write', 'artifact.read'] },
  retry: 'idempotent',
  conditions: ['reference-owner'],
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  body: jsonBody(
    fields({
      key: Type.String({
        pattern: patterns.referenceKey,
        description: '1 to 256 letters, digits, _ . : / or -',
      }),
    }),
  ),
} as const

export const addReference = defineOperation({
  ...shared,
  id: 'addReference',
  method: 'POST',
  summary: 'Keep a file from being deleted, under a key of your own',
  responses: { 204: answersNothing('The reference stands') },
  failures: ['reference_limit'],
})

export const removeReference = defineOperation({
  ...shared,
  id: 'removeReference',
  method: 'DELETE',
  summary: 'Give up your own reference to a file',
  responses: { 204: answersNothing('You have no reference under this key') },
})

export const listReferences = defineOperation({
  id: 'listReferences',
  method: 'GET',
  path: shared.path,
  summary: 'List by whom a file is kept from being deleted, and under which keys',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.read'] },
  retry: 'read',
  pathParameters: shared.pathParameters,
  query: fields({ after: Type.Optional(OpaqueCursor), limit: pageLimit }),
  responses: {
    200: answers(
      'A page, by owner and key',
      fields({
        items: Type.Array(
          fields({ key: Type.String(), actor: Type.String(), actorName: ActorName, createdAt: Timestamp }),
          { maxItems: pageMax },
        ),
        next: nullable(OpaqueCursor),
      }),
    ),
  },
})
