import type { SettingName } from './names.ts'

/**
 * A value as it may stand on a screen or in a log: passwords in addresses are nobody's business, wherever they do not
 * belong.
 */
export const shownValue = (name: SettingName, value: string): string => {
  if (name === 'SVC_BLOB_STORE' || name === 'SVC_BACKUP_VAULT') return value.replace(/^(s3:\/\/)[^/]*@/i, '$1…@')
  if (name !== 'SVC_DATABASE_URL') return value
  return value.replace(/^([a-z]+:\/\/[^:/@]*):.*@/, '$1:…@').replaceAll(/([?&][a-z]*password=)[^&]*/gi, '$1…')
}
