import Type from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ActorName,
  fields,
  IdempotencyKey,
  NamedSubjects,
  nullable,
  OrderOfTime,
  oneOf,
  Sequence,
  SequenceCursor,
  Timestamp,
  Uuid,
} from '../../../contract/schemas.ts'
import { type AdministrationAction, administrationActions } from '../../../kernel/actions.ts'
import { expectedRevisionMax } from '../../../kernel/limits/catalog.ts'
import { serviceAccountPageMax } from '../../../kernel/limits/identity.ts'
import { patterns } from '../../../kernel/names.ts'
import { BindingList, IssuedKeyView, ServiceAccountView, ServiceKeyView, SystemName } from './vocabulary.ts'

const accounts = '/api/v1/service-accounts'
const keys = '/api/v1/api-keys'
const one = fields({ id: Uuid })
const ExpectedRevision = Type.Integer({ minimum: 1, maximum: expectedRevisionMax })

const delegated = (action: AdministrationAction, of: 'service-account' | 'service-key' = 'service-account') =>
  ({
    surface: 'administration',
    visibility: 'delegated',
    access: { kind: 'administration', action, of },
    conditions: ['delegation-target-and-ceiling'],
    pathParameters: one,
  }) as const

const ofRecoveryKey = {
  surface: 'administration',
  visibility: 'bootstrap',
  access: { kind: 'service-administrator' },
} as const

const NewKey = fields({
  name: SystemName,
  bindings: BindingList,
  expiresAt: Type.Optional(Type.String({ pattern: patterns.dateTime, description: 'an RFC 3339 date-time' })),
})

const issued = {
  201: answers('The pending key with its secret, which is shown only now', IssuedKeyView),
  200: answers('The key that this Idempotency-Key issued before, without its secret', ServiceKeyView),
} as const

export const listServiceAccounts = defineOperation({
  id: 'listServiceAccounts',
  method: 'GET',
  path: accounts,
  summary: 'List the service accounts that the caller may see',
  surface: 'administration',
  visibility: 'delegated',
  access: { kind: 'visible', actions: ['service-account.read'] },
  retry: 'read',
  query: fields({ after: Type.Optional(Uuid) }),
  responses: {
    200: answers(
      'A page ordered by id',
      fields({ items: Type.Array(ServiceAccountView, { maxItems: serviceAccountPageMax }), next: nullable(Uuid) }),
    ),
  },
})

export const createServiceAccount = defineOperation({
  ...ofRecoveryKey,
  id: 'createServiceAccount',
  method: 'POST',
  path: accounts,
  summary: 'Create a service account with its policy',
  retry: 'never-automatic',
  body: jsonBody(fields({ name: SystemName, bindings: BindingList })),
  responses: { 201: answers('The account', ServiceAccountView) },
  failures: ['already_exists', 'service_account_limit'],
})

export const getServiceAccount = defineOperation({
  ...delegated('service-account.read'),
  id: 'getServiceAccount',
  method: 'GET',
  path: `${accounts}/{id}`,
  summary: 'Read a service account',
  retry: 'read',
  responses: { 200: answers('The account', ServiceAccountView) },
  failures: ['not_found'],
})

export const updateServiceAccount = defineOperation({
  ...delegated('service-account.manage'),
  id: 'updateServiceAccount',
  method: 'PATCH',
  path: `${accounts}/{id}`,
  summary: 'Enable or disable a service account',
  retry: 'compare-and-swap',
  body: jsonBody(fields({ expectedRevision: ExpectedRevision, enabled: Type.Boolean() })),
  responses: { 200: answers('The account', ServiceAccountView) },
  failures: ['not_found', 'revision_mismatch', 'ceiling_exceeded'],
})

export const getServicePolicy = defineOperation({
  ...delegated('policy.read'),
  id: 'getServicePolicy',
  method: 'GET',
  path: `${accounts}/{id}/policy`,
  summary: 'Read the policy of a service account',
  retry: 'read',
  responses: { 200: answers('The account with its policy', ServiceAccountView) },
  failures: ['not_found'],
})

export const putServicePolicy = defineOperation({
  ...delegated('policy.manage'),
  id: 'putServicePolicy',
  method: 'PUT',
  path: `${accounts}/{id}/policy`,
  summary: 'Replace the policy of a service account',
  retry: 'compare-and-swap',
  body: jsonBody(fields({ expectedRevision: ExpectedRevision, bindings: BindingList })),
  responses: { 200: answers('The account with its new policy', ServiceAccountView) },
  failures: ['not_found', 'revision_mismatch', 'ceiling_exceeded'],
})

export const listServiceKeys = defineOperation({
  ...delegated('credential.read'),
  id: 'listServiceKeys',
  method: 'GET',
  path: `${accounts}/{id}/keys`,
  summary: 'List the keys of a service account',
  retry: 'read',
  query: fields({ after: Type.Optional(Uuid) }),
  responses: {
    200: answers(
      'A page ordered by id',
      fields({ items: Type.Array(ServiceKeyView, { maxItems: serviceAccountPageMax }), next: nullable(Uuid) }),
    ),
  },
  failures: ['not_found'],
})

export const issueServiceKey = defineOperation({
  ...delegated('credential.manage'),
  id: 'issueServiceKey',
  method: 'POST',
  path: `${accounts}/{id}/keys`,
  summary: 'Issue a key, to be activated within 15 minutes',
  retry: 'idempotency-key',
  headers: fields({ 'idempotency-key': IdempotencyKey }),
  body: jsonBody(NewKey),
  responses: issued,
  failures: ['not_found', 'idempotency_mismatch', 'policy_exceeded', 'ceiling_exceeded', 'key_limit'],
})

export const getServiceAudit = defineOperation({
  ...delegated('service-audit.read'),
  id: 'getServiceAudit',
  method: 'GET',
  path: `${accounts}/{id}/audit`,
  summary: 'Read the history of a service account and its keys',
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
          }),
          { maxItems: 100 },
        ),
        next: nullable(SequenceCursor),
      }),
    ),
  },
  failures: ['not_found'],
})

export const getServiceKey = defineOperation({
  ...delegated('credential.read', 'service-key'),
  id: 'getServiceKey',
  method: 'GET',
  path: `${keys}/{id}`,
  summary: 'Read a key',
  retry: 'read',
  responses: { 200: answers('The key, never its secret', ServiceKeyView) },
  failures: ['not_found'],
})

export const rotateServiceKey = defineOperation({
  ...delegated('credential.manage', 'service-key'),
  id: 'rotateServiceKey',
  method: 'POST',
  path: `${keys}/{id}/rotate`,
  summary: 'Issue a key that replaces this one',
  retry: 'idempotency-key',
  headers: fields({ 'idempotency-key': IdempotencyKey }),
  body: jsonBody(NewKey),
  responses: issued,
  failures: ['not_found', 'key_state', 'idempotency_mismatch', 'policy_exceeded', 'ceiling_exceeded', 'key_limit'],
})

export const revokeServiceKey = defineOperation({
  ...delegated('credential.manage', 'service-key'),
  id: 'revokeServiceKey',
  method: 'POST',
  path: `${keys}/{id}/revoke`,
  summary: 'Revoke a key at once',
  retry: 'idempotent',
  responses: { 200: answers('The revoked key', ServiceKeyView) },
  failures: ['not_found'],
})

export const activateServiceKey = defineOperation({
  id: 'activateServiceKey',
  method: 'POST',
  path: '/api/v1/auth/activate-key',
  summary: 'Activate the key that calls',
  surface: 'identity',
  visibility: 'self',
  access: { kind: 'own-key' },
  retry: 'idempotent',
  conditions: ['own-key'],
  responses: { 204: answersNothing('The key is active') },
  failures: ['key_limit'],
})

const oneDelegation = {
  accountId: Uuid,
  actions: Type.Array(oneOf(administrationActions)),
  ceiling: BindingList,
}
const Delegation = fields(oneDelegation)
const ListedDelegation = fields({ ...oneDelegation, accountName: nullable(Type.String()) })

const delegation = fields({ id: Uuid, accountId: Uuid })

export const listDelegations = defineOperation({
  ...ofRecoveryKey,
  id: 'listDelegations',
  method: 'GET',
  path: `${keys}/{id}/delegations`,
  summary: 'List what an operator key may administrate',
  retry: 'read',
  pathParameters: one,
  responses: { 200: answers('Up to 64 delegations', fields({ items: Type.Array(ListedDelegation) })) },
  failures: ['not_found'],
})

export const putDelegation = defineOperation({
  ...ofRecoveryKey,
  id: 'putDelegation',
  method: 'PUT',
  path: `${keys}/{id}/delegations/{accountId}`,
  summary: 'Let an operator key administrate a service account',
  retry: 'idempotent',
  pathParameters: delegation,
  body: jsonBody(
    fields({
      actions: Type.Array(oneOf(administrationActions), {
        minItems: 1,
        maxItems: administrationActions.length,
        uniqueItems: true,
      }),
      ceiling: BindingList,
    }),
  ),
  responses: { 200: answers('The delegation', Delegation) },
  failures: ['key_state', 'not_found', 'ceiling_exceeded', 'delegation_limit'],
})

export const deleteDelegation = defineOperation({
  ...ofRecoveryKey,
  id: 'deleteDelegation',
  method: 'DELETE',
  path: `${keys}/{id}/delegations/{accountId}`,
  summary: 'End a delegation',
  retry: 'idempotent',
  pathParameters: delegation,
  responses: { 204: answersNothing('The delegation has ended') },
  failures: ['not_found'],
})
