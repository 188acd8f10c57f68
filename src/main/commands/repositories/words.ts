import { invalid } from '../../../kernel/failure.ts'
import { isRepositoryId, patterns } from '../../../kernel/names.ts'

export const parseId = (id: string): string => {
  if (!isRepositoryId(id))
    throw invalid(id, 'must be 1 to 64 lowercase letters, digits, _ or -, beginning with a letter or digit')
  return id
}

/** `none`, or whole bytes. */
export const parseQuota = (quota: string): number | null => {
  if (quota === 'none') return null
  if (!new RegExp(patterns.byteCount).test(quota))
    throw invalid(quota, 'must be a count of bytes up to 9007199254740991, or none')
  return Number(quota)
}

export const created = (id: string): string => `Created ${id}. Give people access to it through a group.`
export const deleted = (id: string): string => `Deleted ${id}.`
export const limited = (id: string, quota: number | null): string =>
  quota === null ? `${id} has no quota.` : `${id} may reserve ${quota} bytes.`
