import type { Static } from 'typebox'
import * as operations from '../../../features/identity/service-accounts/operations.ts'
import type { ServiceAccountView } from '../../../features/identity/service-accounts/vocabulary.ts'
import { connect } from '../../client/connect.ts'
import { theOne } from '../../client/names.ts'
import { everyPage } from '../../client/pages.ts'
import type { Service } from '../../client/service.ts'
import { type OutputOptions, table, tell } from '../output.ts'
import { bindingsIn, inWords } from './bindings.ts'

export type ServiceAccount = Static<typeof ServiceAccountView>

export interface MayOptions {
  /** `<repository>=<action>,…`, each. */
  readonly may?: readonly string[]
}

const allServiceAccounts = (service: Service): Promise<ServiceAccount[]> =>
  everyPage((after) => service.call(operations.listServiceAccounts, { query: after === null ? {} : { after } }))

export const serviceAccountCalled = async (service: Service, name: string): Promise<ServiceAccount> =>
  theOne('service account', name, await allServiceAccounts(service))

const policyOf = ({ name, bindings }: ServiceAccount): string =>
  bindings.length === 0 ? `The policy of ${name} allows nothing.` : `The policy of ${name}: ${inWords(bindings)}`

export const addServiceAccount = async (name: string, options: OutputOptions & MayOptions): Promise<void> => {
  const body = { name, bindings: bindingsIn(options.may ?? []) }
  const account = await connect().call(operations.createServiceAccount, { body })
  tell(options, account, `Created ${name}. ${policyOf(account)}`, `Issue a key: svc key issue ${name}`)
}

export const listServiceAccounts = async (options: OutputOptions): Promise<void> => {
  const items = await allServiceAccounts(connect())
  const rows = items.map(({ name, enabled, bindings }) => [name, enabled ? '' : 'disabled', inWords(bindings)])
  tell(options, { items }, ...table(['NAME', 'STATE', 'POLICY'], rows, 'There are no service accounts.'))
}

/** Shows the policy; with `--may`, replaces it. Whoever was faster in between makes it fail. */
export const servicePolicy = async (name: string, options: OutputOptions & MayOptions): Promise<void> => {
  const service = connect()
  const { id, revision } = await serviceAccountCalled(service, name)
  const path = { id }
  const body = { expectedRevision: revision, bindings: bindingsIn(options.may ?? []) }
  const account =
    options.may === undefined
      ? await service.call(operations.getServicePolicy, { path })
      : await service.call(operations.putServicePolicy, { path, body })
  tell(options, account, policyOf(account))
}

export const setServiceAccountEnabled = async (
  name: string,
  enabled: boolean,
  options: OutputOptions,
): Promise<void> => {
  const service = connect()
  const { id, revision } = await serviceAccountCalled(service, name)
  const body = { expectedRevision: revision, enabled }
  const account = await service.call(operations.updateServiceAccount, { path: { id }, body })
  tell(
    options,
    account,
    enabled ? `The keys of ${account.name} work again.` : `${account.name} is disabled: none of its keys works.`,
  )
}
