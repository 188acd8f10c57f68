import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { fields, nullable, oneOf, RepositoryId, Sequence, Timestamp } from '../../../contract/schemas.ts'
import { webhooksShownMax } from '../../../kernel/limits/webhooks.ts'
import { webhookStates } from './vocabulary.ts'

export const listWebhooks = defineOperation({
  id: 'listWebhooks',
  method: 'GET',
  path: '/api/v1/webhooks',
  summary: 'List the subscriptions of webhooks and how they stand',
  surface: 'operations',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'read',
  responses: {
    200: answers(
      'All of them. `state` says in a word whether it is delivered. `position` is the last event that is done with, of `head`; `lostEvents` were forgotten before they were sent.',
      fields({
        items: Type.Array(
          fields({
            id: Type.String(),
            repository: RepositoryId,
            host: Type.String(),
            actions: nullable(Type.Array(Type.String())),
            createdAt: Timestamp,
            state: oneOf(webhookStates),
            position: Sequence,
            head: Sequence,
            failingSince: nullable(Timestamp),
            failures: Type.Integer({ minimum: 0 }),
            errorCode: nullable(Type.String()),
            nextTryAt: nullable(Timestamp),
            lastSuccessAt: nullable(Timestamp),
            lostEvents: Type.Integer({ minimum: 0 }),
          }),
          { maxItems: webhooksShownMax },
        ),
      }),
    ),
  },
})
