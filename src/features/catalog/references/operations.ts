import Type from 'typebox'
import { answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, Uuid } from '../../../contract/schemas.ts'
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
