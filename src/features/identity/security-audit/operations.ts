import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  NamedSubjects,
  nullable,
  OrderOfTime,
  PointInTime,
  Sequence,
  SequenceCursor,
  Timestamp,
  text,
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
  query: fields({
    after: Type.Optional(SequenceCursor),
    order: OrderOfTime,
    actor: Type.Optional(text(1, 256)),
    action: Type.Optional(text(1, 64)),
    subject: Type.Optional(text(1, 256)),
    from: PointInTime,
    to: PointInTime,
  }),
  responses: {
    200: answers(
      'A page; `next` is the `after` of the next one, and a filtered page may show little and still have one. `actor` is a name or what entries call it, `subject` one of what they were about',
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
