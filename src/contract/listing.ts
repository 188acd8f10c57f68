import Type, { type Static } from 'typebox'
import { administrationActions, repositoryActions, systemActions } from '../kernel/actions.ts'
import {
  conditions,
  isOnReaders,
  listedActions,
  type Operation,
  retries,
  shownPath,
  surfaces,
  visibilities,
} from './operation.ts'
import { fields, oneOf } from './schemas.ts'

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const
export const OperationItem = fields({
  operationId: Type.String(),
  method: oneOf(methods),
  path: Type.String(),
  summary: Type.String(),
  surface: oneOf(surfaces),
  visibility: oneOf(visibilities),
  retry: oneOf(retries),
  requiredActions: Type.Array(oneOf([...repositoryActions, ...administrationActions, ...systemActions] as const), {
    maxItems: 33,
  }),
  conditions: Type.Array(oneOf(conditions), { maxItems: 6 }),
})
export type OperationItem = Static<typeof OperationItem>

const methodOf = (operation: Operation): OperationItem['method'] => {
  const names = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const
  return names[operation.method]
}

/** An operation as the operations list shows it. */
export const operationItem = (operation: Operation): OperationItem => ({
  operationId: operation.id,
  method: methodOf(operation),
  path: shownPath(operation),
  summary: operation.summary,
  surface: operation.surface,
  visibility: operation.visibility,
  retry: operation.retry,
  requiredActions: listedActions(operation),
  conditions: [...operation.conditions],
})

/** The operations that a gateway of this role serves, ordered by id. */
export const servedOperations = (operations: readonly Operation[], readOnly: boolean): Operation[] =>
  operations.filter((operation) => !readOnly || isOnReaders(operation)).sort((a, b) => (a.id < b.id ? -1 : 1))
