import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorFrom } from '../../../journal/actor.ts'
import { namesOf } from '../../../journal/names.ts'
import { serviceAccountPageMax } from '../../../kernel/limits/identity.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'
import { delegationsOf, endDelegation, putDelegation } from './delegations.ts'
import { historyOf } from './history.ts'
import * as operations from './operations.ts'
import {
  createServiceAccount,
  replacePolicy,
  type ServiceAccountDeps,
  serviceAccountById,
  setServiceAccountEnabled,
  visibleServiceAccounts,
} from './service-accounts.ts'
import {
  activateKey,
  type IssuedKey,
  issueKey,
  keysOfAccount,
  revokeKey,
  rotateKey,
  serviceKeyById,
} from './service-keys.ts'

/** A page from one row more than it holds. */
const page = <T extends { id: string }>(rows: T[]): Page<T> =>
  pageOf(
    rows,
    serviceAccountPageMax,
    (row) => row,
    ({ id }) => id,
  )

const issuedAnswer = ({ key, secret }: IssuedKey) =>
  secret === null ? ({ status: 200, json: key } as const) : ({ status: 201, json: { ...key, secret } } as const)

export const serviceAccountHandlers = (deps: ServiceAccountDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.listServiceAccounts, async ({ caller, query }) => ({
      status: 200,
      json: page(await visibleServiceAccounts(deps, caller, query.after ?? '', serviceAccountPageMax + 1)),
    })),
    handle(operations.createServiceAccount, async (input) => ({
      status: 201,
      json: await createServiceAccount(deps, input.body, actorFrom(input)),
    })),
    handle(operations.getServiceAccount, async ({ path }) => ({
      status: 200,
      json: await serviceAccountById(deps, path.id),
    })),
    handle(operations.getServicePolicy, async ({ path }) => ({
      status: 200,
      json: await serviceAccountById(deps, path.id),
    })),
    handle(operations.updateServiceAccount, async (input) => ({
      status: 200,
      json: await setServiceAccountEnabled(deps, input.path.id, input.body, actorFrom(input)),
    })),
    handle(operations.putServicePolicy, async (input) => ({
      status: 200,
      json: await replacePolicy(deps, input.path.id, input.body, actorFrom(input)),
    })),
    handle(operations.getServiceAudit, async ({ path, query }) => ({
      status: 200,
      json: await historyOf(deps.database, path.id, stretchAfter(query.order, query.after)),
    })),
    handle(operations.listServiceKeys, async ({ path, query }) => ({
      status: 200,
      json: page(await keysOfAccount(reader, path.id, query.after ?? '', serviceAccountPageMax + 1)),
    })),
    handle(operations.issueServiceKey, async (input) => {
      const { headers, path, body } = input
      const request = { idempotencyKey: headers['idempotency-key'], actor: actorFrom(input) }
      return issuedAnswer(await issueKey(deps, path.id, body, request))
    }),
    handle(operations.getServiceKey, async ({ path }) => ({
      status: 200,
      json: await serviceKeyById(reader, path.id),
    })),
    handle(operations.rotateServiceKey, async (input) => {
      const { headers, path, body } = input
      const request = { idempotencyKey: headers['idempotency-key'], actor: actorFrom(input) }
      return issuedAnswer(await rotateKey(deps, path.id, body, request))
    }),
    handle(operations.revokeServiceKey, async (input) => ({
      status: 200,
      json: await revokeKey(deps, input.path.id, actorFrom(input)),
    })),
    handle(operations.activateServiceKey, async (input) => {
      await activateKey(deps, actorFrom(input))
      return { status: 204, json: null }
    }),
    handle(operations.listDelegations, async ({ path }) => {
      await serviceKeyById(reader, path.id)
      const items = await delegationsOf(reader, path.id)
      const called = ({ accountId }: { readonly accountId: string }): string => `service-account:${accountId}`
      const nameOf = await namesOf(reader, items.map(called))
      return { status: 200, json: { items: items.map((each) => ({ ...each, accountName: nameOf(called(each)) })) } }
    }),
    handle(operations.putDelegation, async (input) => ({
      status: 200,
      json: await putDelegation(
        deps,
        input.path.id,
        { accountId: input.path.accountId, ...input.body },
        actorFrom(input),
      ),
    })),
    handle(operations.deleteDelegation, async (input) => {
      await endDelegation(deps, input.path.id, input.path.accountId, actorFrom(input))
      return { status: 204, json: null }
    }),
  ]
}
