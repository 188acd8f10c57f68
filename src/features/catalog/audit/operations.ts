import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { fields, inRepository, Sequence, Timestamp, Uuid } from '../../../contract/schemas.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'

const AuditEntry = fields({
  sequence: Sequence,
  actor: Type.String(),
  action: Type.String(),
  artifactId: Uuid,
  occurredAt: Timestamp,
})

export const listAudit = defineOperation({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/audit',
  summary: 'List what was changed in a repository and by whom, oldest first',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['audit.read'] },
  retry: 'read',
  pathParameters: inRepository,
  query: fields({ after: Type.Optional(Sequence) }),
  responses: {
    200: answers(
      'Up to 100 entries; the sequence of the last one is the `after` of the next page',
      fields({ items: Type.Array(AuditEntry, { maxItems: pageMax }) }),
    ),
  },
})
