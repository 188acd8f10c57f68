import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, oneOf, RepositoryId, Uuid } from '../../../contract/schemas.ts'
import { patterns } from '../../../kernel/names.ts'

const GroupName = Type.String({ pattern: patterns.groupName, description: '2 to 64 letters, digits, _ . or -' })
const Access = oneOf(['read', 'write'] as const)

const GroupView = fields({
  id: Uuid,
  name: GroupName,
  members: Type.Array(Uuid),
  /** The same with their names. */
  accounts: Type.Array(fields({ id: Uuid, name: Type.String() })),
  grants: Type.Array(fields({ repository: RepositoryId, access: Access })),
})

const ofAdministrators = {
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
} as const

const inGroup = fields({ id: Uuid })
const member = fields({ id: Uuid, userId: Uuid })
const granted = fields({ id: Uuid, repository: RepositoryId })

export const listAccessGroups = defineOperation({
  ...ofAdministrators,
  id: 'listAccessGroups',
  method: 'GET',
  path: '/api/v1/access-groups',
  summary: 'List access groups',
  retry: 'read',
  responses: { 200: answers('Groups ordered by name', fields({ items: Type.Array(GroupView) })) },
})

export const createAccessGroup = defineOperation({
  ...ofAdministrators,
  id: 'createAccessGroup',
  method: 'POST',
  path: '/api/v1/access-groups',
  summary: 'Create an empty access group',
  retry: 'never-automatic',
  body: jsonBody(fields({ name: GroupName })),
  responses: { 201: answers('The group', GroupView) },
  failures: ['already_exists', 'group_limit'],
})

export const getAccessGroup = defineOperation({
  ...ofAdministrators,
  id: 'getAccessGroup',
  method: 'GET',
  path: '/api/v1/access-groups/{id}',
  summary: 'Read an access group',
  retry: 'read',
  pathParameters: inGroup,
  responses: { 200: answers('The group', GroupView) },
  failures: ['not_found'],
})

export const deleteAccessGroup = defineOperation({
  ...ofAdministrators,
  id: 'deleteAccessGroup',
  method: 'DELETE',
  path: '/api/v1/access-groups/{id}',
  summary: 'Delete an access group and what it gave its members',
  retry: 'idempotent',
  pathParameters: inGroup,
  responses: { 204: answersNothing('The group is gone') },
  failures: ['not_found'],
})

export const addAccessGroupMember = defineOperation({
  ...ofAdministrators,
  id: 'addAccessGroupMember',
  method: 'PUT',
  path: '/api/v1/access-groups/{id}/members/{userId}',
  summary: 'Make an account a member',
  retry: 'idempotent',
  pathParameters: member,
  responses: { 204: answersNothing('The account is a member') },
  failures: ['not_found', 'membership_limit'],
})

export const removeAccessGroupMember = defineOperation({
  ...ofAdministrators,
  id: 'removeAccessGroupMember',
  method: 'DELETE',
  path: '/api/v1/access-groups/{id}/members/{userId}',
  summary: 'End a membership',
  retry: 'idempotent',
  pathParameters: member,
  responses: { 204: answersNothing('The account is no member') },
  failures: ['not_found'],
})

export const setAccessGroupGrant = defineOperation({
  ...ofAdministrators,
  id: 'setAccessGroupGrant',
  method: 'PUT',
  path: '/api/v1/access-groups/{id}/grants/{repository}',
  summary: 'Set what the members may do in a repository',
  retry: 'idempotent',
  pathParameters: granted,
  body: jsonBody(fields({ access: Access })),
  responses: { 204: answersNothing('The grant is set') },
  failures: ['not_found', 'grant_limit'],
})

export const removeAccessGroupGrant = defineOperation({
  ...ofAdministrators,
  id: 'removeAccessGroupGrant',
  method: 'DELETE',
  path: '/api/v1/access-groups/{id}/grants/{repository}',
  summary: 'Take a grant away',
  retry: 'idempotent',
  pathParameters: granted,
  responses: { 204: answersNothing('There is no grant') },
  failures: ['not_found'],
})
