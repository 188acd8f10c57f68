import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { fields, nullable, oneOf } from '../../../contract/schemas.ts'
import { attentionMax } from '../../../kernel/limits/process.ts'
import { needs } from './vocabulary.ts'

export const getAttention = defineOperation({
  id: 'getAttention',
  method: 'GET',
  path: '/api/v1/attention',
  summary: 'What needs somebody, of what the caller may do something about',
  surface: 'operations',
  visibility: 'authenticated',
  access: { kind: 'credential' },
  retry: 'read',
  responses: {
    200: answers(
      'What is critical first; nothing where all is well. For a session its own tokens that end within 14 days; for administrators also backups, whether files are taken, failed jobs and webhooks. `subject` is the name of a token or the host of a webhook, `count` how many jobs',
      fields({
        items: Type.Array(
          fields({
            code: oneOf(needs),
            severity: oneOf(['warning', 'critical'] as const),
            subject: nullable(Type.String()),
            count: nullable(Type.Integer({ minimum: 1 })),
          }),
          { maxItems: attentionMax },
        ),
      }),
    ),
  },
})
