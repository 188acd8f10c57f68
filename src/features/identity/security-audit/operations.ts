import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  NamedSubjects,
  nullable,
  OrderOfTime,
  Sequence,
  SequenceCursor,
  Timestamp,
} from '../../../contract/schemas.ts'

export const listSecurityAudit = defineOperation({
  id: 'listSecurityAudit',
  method: 'GET',
  path: '/api/v1/security-audit',
  summary: 'List who changed what others may do',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'read',
  query: fields({ after: Type.Optional(SequenceCursor), order: OrderOfTime }),
  responses: {
    200: answers(
      'A page; `next` is the `after` of the next one',
      fields({
        items: Type.Array(
          fields({
            sequence: Sequence,
            occurredAt: Timestamp,
            actor: Type.String(),
            actorName: ActorName,
            action: Type.String(),
            subject: Type.String(),
            subjects: NamedSubjects,
            clientAddress: Type.String(),
          }),
          { maxItems: 100 },
        ),
        next: nullable(SequenceCursor),
      }),
    ),
  },
})
