import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ByteCount,
  fields,
  inRepository,
  nullable,
  oneOf,
  pageLimit,
  RepositoryId,
  Timestamp,
} from '../../../contract/schemas.ts'
import { repositoryActions } from '../../../kernel/actions.ts'
import { countedOnCardsMax } from '../../../kernel/limits/catalog.ts'

export const RepositoryCard = fields({
  id: RepositoryId,
  formats: Type.Array(oneOf(['upack', 'assets'] as const), { minItems: 2, maxItems: 2 }),
  permissions: Type.Array(oneOf(repositoryActions), { maxItems: repositoryActions.length }),
})

/** Only for who may list what is there, and could find it out by that. */
const Filled = nullable(
  fields({
    publishedBytes: ByteCount,
    lastChangeAt: nullable(Timestamp),
  }),
)
const Counts = Type.Array(
  fields({
    format: Type.String({ description: '`files`, `packages`, `images`, `npm`, `lfs`' }),
    count: Type.Integer({ minimum: 1, maximum: countedOnCardsMax }),
    isMore: Type.Boolean(),
  }),
)
const CardInList = fields({ ...RepositoryCard.properties, filled: Filled, counts: Counts })

const CardInUse = fields({
  ...CardInList.properties,
  inUse: Type.Array(Type.String({ description: '`files`, `packages`, `images`' })),
})

export const listRepositories = defineOperation({
  id: 'listRepositories',
  method: 'GET',
  path: '/api/v1/repositories',
  summary: 'List the repositories that the caller may see',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'visible', actions: ['repository.read'] },
  retry: 'read',
  query: fields({ after: Type.Optional(RepositoryId), limit: pageLimit }),
  responses: {
    200: answers(
      'A page ordered by name. `filled` is null for who may not list artifacts; `counts` has what there is some of, as far as the caller may list it, up to a thousand of each, and says where there are more',
      fields({ items: Type.Array(CardInList, { maxItems: 100 }), next: nullable(RepositoryId) }),
    ),
  },
})

export const getRepository = defineOperation({
  id: 'getRepository',
  method: 'GET',
  path: '/api/v1/repositories/{repository}',
  summary: 'Read the card of a repository',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['repository.read'] },
  retry: 'read',
  pathParameters: inRepository,
  responses: {
    200: answers(
      'The card. `inUse` names what there is some of, as far as the caller may list it; `counts` says how many, up to a thousand of each, and where there are more',
      CardInUse,
    ),
  },
})

export const listAllRepositories = defineOperation({
  id: 'listAllRepositories',
  method: 'GET',
  path: '/api/v1/access/repositories',
  summary: 'List every repository, without what is in it',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'read',
  query: fields({ after: Type.Optional(RepositoryId), limit: pageLimit }),
  responses: {
    200: answers(
      'A page ordered by name. To see one from inside, a group must grant it',
      fields({
        items: Type.Array(fields({ id: RepositoryId, createdAt: Timestamp }), { maxItems: 100 }),
        next: nullable(RepositoryId),
      }),
    ),
  },
})

export const createRepository = defineOperation({
  id: 'createRepository',
  method: 'POST',
  path: '/api/v1/repositories',
  summary: 'Create a repository',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'never-automatic',
  body: jsonBody(fields({ id: RepositoryId })),
  responses: { 201: answers('The card, as the creator sees it', RepositoryCard) },
  failures: ['already_exists'],
})

export const deleteRepository = defineOperation({
  id: 'deleteRepository',
  method: 'DELETE',
  path: '/api/v1/repositories/{repository}',
  summary: 'Delete an empty repository',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'never-automatic',
  conditions: ['resource-state'],
  pathParameters: fields({ repository: RepositoryId }),
  responses: { 204: answersNothing('The repository is gone') },
  failures: ['not_found', 'repository_not_empty'],
})
