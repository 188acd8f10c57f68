import {
  createRepository,
  deleteRepository,
  listRepositories,
} from '../../features/catalog/repositories/repositories.ts'
import { setQuota } from '../../features/lifecycle/policies/policy.ts'
import { unasked } from '../../journal/security-audit/security-audit.ts'
import { invalid } from '../../kernel/failure.ts'
import { pageMax } from '../../kernel/limits/catalog.ts'
import { isRepositoryId, patterns } from '../../kernel/names.ts'
import { withEngines } from './offline.ts'

const operator = unasked({ actor: 'operator', clientAddress: 'command line' })

const parseId = (id: string): string => {
  if (!isRepositoryId(id))
    throw invalid(id, 'must be 1 to 64 lowercase letters, digits, _ or -, beginning with a letter or digit')
  return id
}

export const createRepositoryCommand = (id: string): Promise<void> =>
  withEngines(async (engines) => {
    await createRepository(engines, parseId(id), operator)
    console.log(`Created ${id}. Give people access to it through a group.`)
  })

export const deleteRepositoryCommand = (id: string): Promise<void> =>
  withEngines(async (engines) => {
    await deleteRepository(engines, parseId(id), operator)
    console.log(`Deleted ${id}.`)
  })

export const listRepositoriesCommand = (): Promise<void> =>
  withEngines(async (engines) => {
    let after = ''
    for (;;) {
      const page = await listRepositories(engines, after, pageMax)
      for (const { id, publishedBytes, pendingBytes, retiredBytes } of page)
        console.log(`${id}\tpublished ${publishedBytes}\tpending ${pendingBytes}\tretired ${retiredBytes}`)
      const last = page.at(-1)
      if (last === undefined || page.length < pageMax) return
      after = last.id
    }
  })

/** `none`, or whole bytes. */
export const setQuotaCommand = (id: string, quota: string): Promise<void> =>
  withEngines(async (engines) => {
    if (quota !== 'none' && !new RegExp(patterns.byteCount).test(quota))
      throw invalid(quota, 'must be a count of bytes up to 9007199254740991, or none')
    await setQuota(engines, parseId(id), quota === 'none' ? null : Number(quota), operator.actor)
    console.log(quota === 'none' ? `${id} has no quota.` : `${id} may reserve ${Number(quota)} bytes.`)
  })
