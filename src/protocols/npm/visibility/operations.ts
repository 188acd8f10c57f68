import Type, { type TProperties } from 'typebox'
import { answers, bytesBody, defineOperation } from '../../../contract/define.ts'
import { fields } from '../../../contract/schemas.ts'
import { npmSentJsonBytesMax } from '../../../kernel/limits/npm-accounts.ts'

const asked = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: true })

const of = '/npm/{repository}/-/package/{package}'
const common = {
  surface: 'transfers',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.read'] },
  pathParameters: fields({ repository: Type.String(), package: Type.String() }),
  query: asked({}),
} as const

export const getNpmVisibility = defineOperation({
  ...common,
  id: 'getNpmVisibility',
  method: 'GET',
  path: `${of}/visibility`,
  summary: 'Find out whether everybody may read a package: nobody may without a credential',
  retry: 'read',
  responses: { 200: answers('It is not public', asked({ public: Type.Boolean() })) },
})

export const listNpmCollaborators = defineOperation({
  ...common,
  id: 'listNpmCollaborators',
  method: 'GET',
  path: `${of}/collaborators`,
  summary: 'Find out what the caller may do with a package; of others it is not told',
  retry: 'read',
  responses: { 200: answers('The caller', Type.Record(Type.String(), Type.String())) },
})

export const setNpmAccess = defineOperation({
  ...common,
  id: 'setNpmAccess',
  method: 'POST',
  path: `${of}/access`,
  summary: 'Say that a package is private, as all are; anything else is refused',
  access: { kind: 'repository', actions: ['asset.write'] },
  retry: 'idempotent',
  body: bytesBody(null, npmSentJsonBytesMax),
  responses: { 200: answers('It is', asked({ ok: Type.Boolean() })) },
  failures: ['permission_missing'],
})
