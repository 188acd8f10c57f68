import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { doerOf } from '../../../journal/doer.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { serviceAccountPageMax } from '../../../kernel/limits/identity.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { sequenceAfter } from '../../../kernel/sequence.ts'
import { delegationsOf, endDelegation, putDelegation as setDelegation } from './delegations.ts'
import {
  activateServiceKey,
  createServiceAccount,
  deleteDelegation,
  getServiceAccount,
  getServiceAudit,
  getServiceKey,
  getServicePolicy,
  issueServiceKey,
  listDelegations,
  listServiceAccounts,
  listServiceKeys,
  putDelegation,
  putServicePolicy,
  revokeServiceKey,
  rotateServiceKey,
  updateServiceAccount,
} from './operations.ts'
import { serviceAuditAfter } from './service-accounts.queries.ts'
import {
  createServiceAccount as create,
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
    handle(listServiceAccounts, async ({ caller, query }) => ({
      status: 200,
      json: page(await visibleServiceAccounts(parts, caller, query.after ?? '', serviceAccountPageMax + 1)),
    })),
    handle(createServiceAccount, async (input) => ({
      status: 201,
      json: await create(parts, input.body, doerOf(input)),
    })),
    handle(getServiceAccount, async ({ path }) => ({ status: 200, json: await serviceAccountById(parts, path.id) })),
    handle(getServicePolicy, async ({ path }) => ({ status: 200, json: await serviceAccountById(parts, path.id) })),
    handle(updateServiceAccount, async (input) => ({
      status: 200,
      json: await setServiceAccountEnabled(parts, input.path.id, input.body, doerOf(input)),
    })),
    handle(putServicePolicy, async (input) => ({
      status: 200,
      json: await replacePolicy(parts, input.path.id, input.body, doerOf(input)),
    })),
    handle(getServiceAudit, async ({ path, query }) => {
      const rows = await serviceAuditAfter(parts.database, path.id, sequenceAfter(query.after), pageMax + 1)
      const show = ({ sequence, occurred_at, actor, action, subject }: (typeof rows)[number]) => ({
        sequence: String(sequence),
        occurredAt: occurred_at,
        actor,
        action,
        subject,
      })
      return { status: 200, json: pageOf(rows, pageMax, show, ({ sequence }) => String(sequence)) }
    }),
    handle(listServiceKeys, async ({ path, query }) => ({
      status: 200,
      json: page(await keysOfAccount(reader, path.id, query.after ?? '', serviceAccountPageMax + 1)),
    })),
    handle(issueServiceKey, async (input) => {
      const { headers, path, body } = input
      const request = { idempotencyKey: headers['idempotency-key'], doer: doerOf(input) }
      return issuedAnswer(await issueKey(parts, path.id, body, request))
    }),
    handle(getServiceKey, async ({ path }) => ({ status: 200, json: await serviceKeyById(reader, path.id) })),
    handle(rotateServiceKey, async (input) => {
      const { headers, path, body } = input
      const request = { idempotencyKey: headers['idempotency-key'], doer: doerOf(input) }
      return issuedAnswer(await rotateKey(parts, path.id, body, request))
    }),
    handle(revokeServiceKey, async (input) => ({
      status: 200,
      json: await revokeKey(parts, input.path.id, doerOf(input)),
    })),
    handle(activateServiceKey, async (input) => {
      await activateKey(parts, doerOf(input))
      return { status: 204, json: null }
    }),
    handle(listDelegations, async ({ path }) => {
      await serviceKeyById(reader, path.id)
      return { status: 200, json: { items: await delegationsOf(reader, path.id) } }
    }),
    handle(putDelegation, async (input) => ({
      status: 200,
      json: await setDelegation(
        parts,
        input.path.id,
        { accountId: input.path.accountId, ...input.body },
        doerOf(input),
      ),
    })),
    handle(deleteDelegation, async (input) => {
      await endDelegation(parts, input.path.id, input.path.accountId, doerOf(input))
      return { status: 204, json: null }
    }),
  ]
}
