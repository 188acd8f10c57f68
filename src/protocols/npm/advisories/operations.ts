import Type from 'typebox'
import { answers, bytesBody, defineOperation } from '../../../contract/define.ts'
import { fields, RepositoryId } from '../../../contract/schemas.ts'
import { npmAuditBytesMax } from '../../../kernel/limits/npm-accounts.ts'

/** What somebody depends on is told in a body, often packed by gzip. It changes nothing here. */
export const listNpmAdvisories = defineOperation({
  id: 'listNpmAdvisories',
  method: 'POST',
  path: '/npm/{repository}/-/npm/v1/security/advisories/bulk',
  summary: 'Ask for what is known against versions of packages: nothing is, and a notice says so',
  surface: 'transfers',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['content.read'] },
  retry: 'idempotent',
  openToReadTokens: true,
  pathParameters: fields({ repository: RepositoryId }),
  query: Type.Object({}, { additionalProperties: true }),
  headers: fields({ 'content-encoding': Type.Optional(Type.String()) }),
  body: bytesBody(null, npmAuditBytesMax),
  responses: {
    200: answers('Advisories by package: none', Type.Object({}), {
      'npm-notice': 'that nothing was looked up, which clients show',
    }),
  },
})
