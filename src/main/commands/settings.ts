import { settingNames } from '../settings/names.ts'
import { readSettings } from '../settings/rules.ts'

/** Passwords in addresses are nobody's business on a screen, not even where they do not belong. */
const shown = (name: string, value: string): string => {
  if (name === 'SVC_BLOB_STORE') return value.replace(/^(s3:\/\/)[^/]*@/i, '$1…@')
  if (name !== 'SVC_DATABASE_URL') return value
  return value.replace(/^([a-z]+:\/\/[^:/@]*):.*@/, '$1:…@').replaceAll(/([?&][a-z]*password=)[^&]*/gi, '$1…')
}

/** Prints every setting, its value, where it comes from and what it means; then says what is wrong with them. */
export const showSettings = (): void => {
  for (const { name, fallback, meaning } of settingNames) {
    const given = process.env[name]?.trim()
    const set = given !== undefined && given !== ''
    console.log(`${name} = ${set ? shown(name, given) : fallback}${set ? '' : '  (default)'}\n    ${meaning}`)
  }
  readSettings(process.env)
}
