import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { doerOf } from '../../../journal/doer.ts'
import { namesOf } from '../../../journal/names.ts'
import { serviceAccountPageMax } from '../../../kernel/limits/identity.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { sequenceAfter } from '../../../kernel/sequence.ts'
import { delegationsOf, endDelegation, putDelegation } from './delegations.ts'
import { historyOf } from './history.ts'
import * as operations from './operations.ts'
import {
  createServiceAccount,
  replacePolicy,
  type ServiceAccountParts,
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

export const serviceAccountHandlers = (parts: ServiceAccountParts): BoundOperation[] => {
  const { reader } = parts.database
  return [
    handle(operations.listServiceAccounts, async ({ caller, query }) => ({
      status: 200,
      json: page(await visibleServiceAccounts(parts, caller, query.after ?? '', serviceAccountPageMax + 1)),
    })),
    handle(operations.createServiceAccount, async (input) => ({
      status: 201,
      json: await createServiceAccount(parts, input.body, doerOf(input)),
    })),
    handle(operations.getServiceAccount, async ({ path }) => ({
      status: 200,
      json: await serviceAccountById(parts, path.id),
    })),
    handle(operations.getServicePolicy, async ({ path }) => ({
      status: 200,
      json: await serviceAccountById(parts, path.id),
    })),
    handle(operations.updateServiceAccount, async (input) => ({
      status: 200,
      json: await setServiceAccountEnabled(parts, input.path.id, input.body, doerOf(input)),
    })),
    handle(operations.putServicePolicy, async (input) => ({
      status: 200,
      json: await replacePolicy(parts, input.path.id, input.body, doerOf(input)),
    })),
    handle(operations.getServiceAudit, async ({ path, query }) => ({
      status: 200,
      json: await historyOf(parts.database, path.id, sequenceAfter(query.after)),
    })),
    handle(operations.listServiceKeys, async ({ path, query }) => ({
      status: 200,
      json: page(await keysOfAccount(reader, path.id, query.after ?? '', serviceAccountPageMax + 1)),
    })),
    handle(operations.issueServiceKey, async (input) => {
      const { headers, path, body } = input
      const request = { idempotencyKey: headers['idempotency-key'], doer: doerOf(input) }
      return issuedAnswer(await issueKey(parts, path.id, body, request))
    }),
    handle(operations.getServiceKey, async ({ path }) => ({
      status: 200,
      json: await serviceKeyById(reader, path.id),
    })),
    handle(operations.rotateServiceKey, async (input) => {
      const { headers, path, body } = input
      const request = { idempotencyKey: headers['idempotency-key'], doer: doerOf(input) }
      return issuedAnswer(await rotateKey(parts, path.id, body, request))
    }),
    handle(operations.revokeServiceKey, async (input) => ({
      status: 200,
      json: await revokeKey(parts, input.path.id, doerOf(input)),
    })),
    handle(operations.activateServiceKey, async (input) => {
      await activateKey(parts, doerOf(input))
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
        parts,
        input.path.id,
        { accountId: input.path.accountId, ...input.body },
        doerOf(input),
      ),
    })),
    handle(operations.deleteDelegation, async (input) => {
      await endDelegation(parts, input.path.id, input.path.accountId, doerOf(input))
      return { status: 204, json: null }
    }),
  ]
}
