import Type from 'typebox'
import { fields, nullable, oneOf, RepositoryId, Timestamp, Uuid } from '../../../contract/schemas.ts'
import { repositoryActions } from '../../../kernel/actions.ts'
import { revisionMax } from '../../../kernel/limits/catalog.ts'
import { bindingsMax } from '../../../kernel/limits/identity.ts'
import { patterns } from '../../../kernel/names.ts'

/** Shapes that several operations on service accounts share. */

const Binding = fields({
  resource: fields({ kind: oneOf(['repository'] as const), id: RepositoryId }),
  actions: Type.Array(oneOf(repositoryActions), { minItems: 1, maxItems: repositoryActions.length, uniqueItems: true }),
})

export const BindingList = Type.Array(Binding, { maxItems: bindingsMax })

export const SystemName = Type.String({
  pattern: patterns.accountName,
  description: '3 to 64 letters, digits, _ . or -',
})

export const ServiceAccountView = fields({
  id: Uuid,
  name: SystemName,
  enabled: Type.Boolean(),
  revision: Type.Integer({ minimum: 1, maximum: revisionMax }),
  bindings: BindingList,
  createdAt: Timestamp,
})

const key = {
  id: Uuid,
  accountId: Uuid,
  name: SystemName,
  state: oneOf(['pending', 'active', 'revoked'] as const),
  bindings: BindingList,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  activationExpiresAt: Timestamp,
  rotatedFrom: nullable(Uuid),
}

export const ServiceKeyView = fields(key)

export const IssuedKeyView = fields({ ...key, secret: Type.String() })
