import { settingNames } from '../settings/names.ts'
import { readSettings } from '../settings/rules.ts'

/** Passwords in addresses are nobody's business on a screen. */
const shown = (name: string, value: string): string =>
  name === 'SVC_DATABASE_URL'
    ? value.replace(/^([a-z]+:\/\/[^:/@]*):.*@/, '$1:…@').replaceAll(/([?&][a-z]*password=)[^&]*/gi, '$1…')
    : value

/** Prints every setting, its value, where it comes from and what it means; then says what is wrong with them. */
export const showSettings = (): void => {
  for (const { name, fallback, meaning } of settingNames) {
    const given = process.env[name]?.trim()
    const set = given !== undefined && given !== ''
    console.log(`${name} = ${set ? shown(name, given) : fallback}${set ? '' : '  (default)'}\n    ${meaning}`)
  }
  readSettings(process.env)
}
