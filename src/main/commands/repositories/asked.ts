import * as operations from '../../../features/catalog/repositories/operations.ts'
import { getMe } from '../../../features/identity/accounts/operations.ts'
import { getStoragePolicy, putStoragePolicy } from '../../../features/lifecycle/policies/operations.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { connect } from '../../client/connect.ts'
import { everyPage } from '../../client/pages.ts'
import { type OutputOptions, table, tell } from '../output.ts'
import { created, deleted, limited, parseId, parseQuota } from './words.ts'

/** The commands asked of a service, as whoever has the credential. */

export const createRepositoryCommand = async (id: string, options: OutputOptions): Promise<void> =>
  tell(options, await connect().call(operations.createRepository, { body: { id: parseId(id) } }), created(id))

export const deleteRepositoryCommand = async (id: string, options: OutputOptions): Promise<void> => {
  await connect().call(operations.deleteRepository, { path: { repository: parseId(id) } })
  tell(options, { id }, deleted(id))
}

/** What the caller sees from inside, with what it may do there; an administrator is told of the others as well. */
export const listRepositoriesCommand = async (options: OutputOptions): Promise<void> => {
  const service = connect()
  const page = (after: string | null) => ({ query: after === null ? { limit: pageMax } : { limit: pageMax, after } })
  const seen = await everyPage((after) => service.call(operations.listRepositories, page(after)))
  const { administrator } = await service.call(getMe)
  const all = administrator
    ? await everyPage((after) => service.call(operations.listAllRepositories, page(after)))
    : seen.map(({ id }) => ({ id }))
  const items = all.map(({ id }) => ({ id, permissions: seen.find((each) => each.id === id)?.permissions ?? [] }))
  const rows = items.map(({ id, permissions }) => [
    id,
    permissions.includes('asset.write') ? 'write' : permissions.includes('content.read') ? 'read' : '',
  ])
  tell(options, { items }, ...table(['ID', 'YOU MAY'], rows, 'There are no repositories that you may see.'))
}

/** As part of the storage policy, which takes a key that may manage storage. */
export const setQuotaCommand = async (id: string, text: string, options: OutputOptions): Promise<void> => {
  const service = connect()
  const quota = parseQuota(text)
  const path = { repository: parseId(id) }
  const { revision, policy } = await service.call(getStoragePolicy, { path })
  const quotaBytes = quota === null ? null : String(quota)
  await service.call(putStoragePolicy, {
    path,
    body: { expectedRevision: revision, policy: { ...policy, quotaBytes } },
  })
  tell(options, { id, quotaBytes }, limited(id, quota))
}
