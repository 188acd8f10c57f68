import {
  createRepository,
  deleteRepository,
  listRepositories,
} from '../../../features/catalog/repositories/repositories.ts'
import { setQuota } from '../../../features/lifecycle/policies/policy.ts'
import { unasked } from '../../../journal/security-audit/security-audit.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { withEngines } from '../offline.ts'
import { type OutputOptions, tell } from '../output.ts'
import { created, deleted, limited, parseId, parseQuota } from './words.ts'

/** The commands on the database of this machine, for an operator. */
const operator = unasked({ actor: 'operator', clientAddress: 'command line' })

export const createRepositoryCommand = (id: string, options: OutputOptions): Promise<void> =>
  withEngines(async (engines) => {
    await createRepository(engines, parseId(id), operator)
    tell(options, { id }, created(id))
  })

export const deleteRepositoryCommand = (id: string, options: OutputOptions): Promise<void> =>
  withEngines(async (engines) => {
    await deleteRepository(engines, parseId(id), operator)
    tell(options, { id }, deleted(id))
  })

export const listRepositoriesCommand = (options: OutputOptions): Promise<void> =>
  withEngines(async (engines) => {
    const items: { id: string; publishedBytes: string; pendingBytes: string; retiredBytes: string }[] = []
    for (let after = ''; ; ) {
      const page = await listRepositories(engines, after, pageMax)
      for (const { id, publishedBytes, pendingBytes, retiredBytes } of page)
        items.push({
          id,
          publishedBytes: String(publishedBytes),
          pendingBytes: String(pendingBytes),
          retiredBytes: String(retiredBytes),
        })
      const last = page.at(-1)
      if (last === undefined || page.length < pageMax) break
      after = last.id
    }
    if (options.json === true) return tell(options, { items })
    for (const { id, publishedBytes, pendingBytes, retiredBytes } of items)
      console.log(`${id}\tpublished ${publishedBytes}\tpending ${pendingBytes}\tretired ${retiredBytes}`)
  })

export const setQuotaCommand = (id: string, text: string, options: OutputOptions): Promise<void> =>
  withEngines(async (engines) => {
    const quota = parseQuota(text)
    await setQuota(engines, parseId(id), quota, operator.actor)
    tell(options, { id, quotaBytes: quota === null ? null : String(quota) }, limited(id, quota))
  })
