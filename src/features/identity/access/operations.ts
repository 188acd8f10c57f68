import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { fields, nullable, oneOf, pageLimit, RepositoryId, Uuid } from '../../../contract/schemas.ts'
import { administrationActions, repositoryActions, systemActions } from '../../../kernel/actions.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'
import { BindingList } from '../service-accounts/vocabulary.ts'
import { missingThings } from './vocabulary.ts'

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

const ofAdministrators = {
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'read',
} as const

/** A person, a service account, or an entry of the keys file. */
const Somebody = fields({
  kind: oneOf(['account', 'service-account', 'key'] as const),
  id: Type.String(),
  name: Type.String(),
})

/** Of what gives somebody something. */
const Giver = fields({
  kind: oneOf(['group', 'policy', 'key', 'keys-file', 'role'] as const),
  id: nullable(Type.String()),
  name: Type.String(),
  access: nullable(oneOf(['read', 'write'] as const)),
})

export const explainAccess = defineOperation({
  ...ofAdministrators,
  id: 'explainAccess',
  method: 'GET',
  path: '/api/v1/access/explain',
  summary: 'Whether somebody may do something, and why',
  query: fields({
    caller: Type.String({
      pattern: patterns.somebody,
      description:
        'the name or id of an account, a service account or a key of the keys file, such as ann or account:ann',
    }),
    repository: Type.Optional(RepositoryId),
    action: oneOf([...repositoryActions, ...systemActions]),
  }),
  responses: {
    200: answers(
      'Allowed or not at this moment: `through` names what gives it, `reason` and `message` what is missing',
      fields({
        caller: Somebody,
        repository: nullable(RepositoryId),
        action: oneOf([...repositoryActions, ...systemActions]),
        allowed: Type.Boolean(),
        reason: nullable(oneOf(missingThings)),
        message: Type.String(),
        through: Type.Array(Giver),
      }),
    ),
  },
  failures: ['not_found'],
})

export const listWhoMay = defineOperation({
  ...ofAdministrators,
  id: 'listWhoMay',
  method: 'GET',
  path: '/api/v1/access/who',
  summary: 'List who may do what in a repository, and through what',
  query: fields({
    repository: RepositoryId,
    action: Type.Optional(oneOf(repositoryActions)),
    after: Type.Optional(Type.String({ pattern: patterns.callerCursor, description: 'the `next` of the page before' })),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      'A page: people, then service accounts, then keys of the keys file; with `action`, only those who may do that',
      fields({
        items: Type.Array(
          fields({
            who: Somebody,
            actions: Type.Array(oneOf(repositoryActions)),
            through: Type.Array(Giver),
          }),
          { maxItems: pageMax },
        ),
        next: nullable(Type.String()),
      }),
    ),
  },
  failures: ['not_found'],
})
