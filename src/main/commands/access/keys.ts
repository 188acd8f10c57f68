import { randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import * as operations from '../../../features/identity/service-accounts/operations.ts'
import type { ServiceKeyView } from '../../../features/identity/service-accounts/vocabulary.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { keyActivationMs } from '../../../kernel/limits/identity.ts'
import { day, minute } from '../../../kernel/units.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import { addressFrom, connect } from '../../client/connect.ts'
import { theOne } from '../../client/names.ts'
import { everyPage } from '../../client/pages.ts'
import { secretFromInput } from '../../client/secret-input.ts'
import { type Service, serviceAt } from '../../client/service.ts'
import { type OutputOptions, table, tell } from '../output.ts'
import { type Bindings, bindingsIn, inWords } from './bindings.ts'
import { type MayOptions, type ServiceAccount, serviceAccountCalled } from './service-accounts.ts'

type Key = Static<typeof ServiceKeyView>

interface NewKeyOptions extends OutputOptions, MayOptions {
  readonly name?: string
  /** How long it works. */
  readonly days?: number
  readonly activate?: boolean
}

const keysOf = (service: Service, { id }: ServiceAccount): Promise<Key[]> =>
  everyPage((after) =>
    service.call(operations.listServiceKeys, { path: { id }, query: after === null ? {} : { after } }),
  )

/** Pending and active ones that may still be used. */
const usable = (keys: readonly Key[]): Key[] => {
  const now = timestamp(Date.now())
  return keys.filter((key) => {
    const end = key.state === 'pending' ? key.activationExpiresAt : key.expiresAt
    return key.state !== 'revoked' && end > now
  })
}

/** The key of an account that is called so; without a name, the only one that it has. */
const keyCalled = async (service: Service, account: ServiceAccount, name: string | undefined): Promise<Key> => {
  const keys = usable(await keysOf(service, account))
  if (name !== undefined) return theOne(`usable key of ${account.name}`, name, keys)
  const [only, other] = keys
  if (only === undefined) throw new CommandFailed('unknownName', `${account.name} has no key that can be used.`)
  if (other === undefined) return only
  const candidates = keys.map((key) => `${key.name} (${key.id})`).join(', ')
  throw new CommandFailed('unknownName', `${account.name} has several keys: ${candidates}. Say which.`)
}

export const listKeys = async (accountName: string, options: OutputOptions): Promise<void> => {
  const service = connect()
  const account = await serviceAccountCalled(service, accountName)
  const items = await keysOf(service, account)
  const works = new Set(usable(items))
  const rows = items.map((key) => [
    key.name,
    key.state === 'revoked' || works.has(key) ? key.state : 'expired',
    key.expiresAt,
    key.id,
    inWords(key.bindings),
  ])
  tell(options, { items }, ...table(['NAME', 'STATE', 'UNTIL', 'ID', 'MAY'], rows, `${account.name} has no keys.`))
}

const wishOf = (name: string, bindings: Bindings, { days, may }: NewKeyOptions) => ({
  name,
  bindings: may === undefined ? bindings : bindingsIn(may),
  ...(days === undefined ? {} : { expiresAt: timestamp(Date.now() + days * day) }),
})

/** The secret is here this once: it is printed, activated if wished, and forgotten. */
const tellIssued = async (
  service: Service,
  account: ServiceAccount,
  key: Key | (Key & { readonly secret: string }),
  options: NewKeyOptions,
): Promise<void> => {
  if (!('secret' in key)) throw new Error('a key came without its secret')
  const { secret } = key
  if (options.activate === true) await activate(service, secret)
  const minutes = keyActivationMs / minute
  tell(
    options,
    options.activate === true ? { ...key, state: 'active' } : key,
    `${options.activate === true ? 'Active' : 'Pending'}: the key ${key.name} of ${account.name}, until ${key.expiresAt}.`,
    `It may: ${inWords(key.bindings)}`,
    `Secret, shown only now: ${secret}`,
    ...(options.activate === true
      ? []
      : [`Activate it within ${minutes} minutes: svc key activate (it asks for the secret)`]),
  )
}

export const issueKey = async (accountName: string, options: NewKeyOptions): Promise<void> => {
  const service = connect()
  const account = await serviceAccountCalled(service, accountName)
  const key = await service.call(operations.issueServiceKey, {
    path: { id: account.id },
    headers: { 'idempotency-key': randomUUID() },
    body: wishOf(options.name ?? account.name, account.bindings, options),
  })
  await tellIssued(service, account, key, options)
}

export const rotateKey = async (
  accountName: string,
  keyName: string | undefined,
  options: NewKeyOptions,
): Promise<void> => {
  const service = connect()
  const account = await serviceAccountCalled(service, accountName)
  const old = await keyCalled(service, account, keyName)
  const key = await service.call(operations.rotateServiceKey, {
    path: { id: old.id },
    headers: { 'idempotency-key': randomUUID() },
    body: wishOf(options.name ?? old.name, old.bindings, options),
  })
  await tellIssued(service, account, key, options)
  if (options.json !== true) console.log('The old key works for at most 24 hours from the activation of the new one.')
}

export const revokeKey = async (
  accountName: string,
  keyName: string | undefined,
  options: OutputOptions,
): Promise<void> => {
  const service = connect()
  const account = await serviceAccountCalled(service, accountName)
  const { id } = await keyCalled(service, account, keyName)
  const key = await service.call(operations.revokeServiceKey, { path: { id } })
  tell(options, key, `Revoked the key ${key.name} of ${account.name}. What it is transferring may finish.`)
}

const activate = async ({ endpoint }: Pick<Service, 'endpoint'>, secret: string): Promise<void> => {
  const self = serviceAt({ address: endpoint.address, credential: secret, credentialFrom: 'the key' })
  await self.call(operations.activateServiceKey)
}

/** With the secret of the key alone: it needs no other credential. */
export const activateKey = async (options: OutputOptions): Promise<void> => {
  const address = addressFrom(process.env)
  const secret = await secretFromInput('Secret of the key')
  await activate({ endpoint: { address, credential: secret, credentialFrom: 'the key' } }, secret)
  tell(options, { state: 'active' }, 'The key is active.')
}
