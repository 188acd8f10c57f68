import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { fields, nullable, oneOf, RepositoryId, Uuid } from '../../../contract/schemas.ts'
import { administrationActions, repositoryActions, systemActions } from '../../../kernel/actions.ts'
import { BindingList } from '../service-accounts/vocabulary.ts'

export const getPermissions = defineOperation({
  id: 'getPermissions',
  method: 'GET',
  path: '/api/v1/auth/permissions',
  summary: 'Exactly what the credential may do',
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'credential' },
  retry: 'read',
  responses: {
    200: answers(
      'The permissions; `accountId` null stands for every service account, `ceiling` null for no bound',
      fields({
        repositories: Type.Array(fields({ repository: RepositoryId, actions: Type.Array(oneOf(repositoryActions)) })),
        administration: Type.Array(
          fields({
            accountId: nullable(Uuid),
            actions: Type.Array(oneOf(administrationActions)),
            ceiling: nullable(BindingList),
          }),
        ),
        system: Type.Array(oneOf(systemActions)),
      }),
    ),
  },
})
