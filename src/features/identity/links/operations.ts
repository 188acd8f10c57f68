import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, Uuid } from '../../../contract/schemas.ts'
import { linkTtlSecondsDefault, linkTtlSecondsMax, linkTtlSecondsMin } from '../../../kernel/limits/identity.ts'

export const createLink = defineOperation({
  id: 'createLink',
  method: 'POST',
  path: '/api/v1/repositories/{repository}/artifacts/{id}/links',
  summary: 'Make a download link to a published file',
  surface: 'transfers',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['content.read'] },
  retry: 'never-automatic',
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  body: jsonBody(
    fields({
      ttlSeconds: Type.Optional(
        Type.Integer({ minimum: linkTtlSecondsMin, maximum: linkTtlSecondsMax, default: linkTtlSecondsDefault }),
      ),
    }),
  ),
  responses: {
    201: answers(
      'The link: whoever has it can fetch this file, without any other credential, until it ends',
      fields({ token: Type.String(), url: Type.String() }),
    ),
  },
})
