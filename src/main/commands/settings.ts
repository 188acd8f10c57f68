import { Failure } from '../../kernel/failure.ts'
import { type SettingName, settingNames } from '../settings/names.ts'
import { closestSetting, readSettings } from '../settings/rules.ts'
import { shownValue } from '../settings/shown.ts'

/** One setting as it is shown. */
interface Shown {
  readonly name: SettingName
  readonly value: string
  /** Where the value comes from. */
  readonly from: 'environment' | 'default'
  readonly meaning: string
}

export interface SettingsShown {
  readonly json?: boolean
  /** Only what the environment sets. */
  readonly changed?: boolean
}

const shown = ({ name, fallback, meaning }: (typeof settingNames)[number]): Shown => {
  const given = process.env[name]?.trim() ?? ''
  const from = given === '' ? 'default' : 'environment'
  return { name, value: from === 'default' ? fallback : shownValue(name, given), from, meaning }
}

/** Prints settings as a table (or JSON), or one of them with what it means; then says what is wrong with them. */
export const showSettings = (only: string | undefined, { json = false, changed = false }: SettingsShown): void => {
  const all = settingNames.map(shown)
  const chosen = all.filter(({ name, from }) => (only ?? name) === name && (!changed || from === 'environment'))
  if (only !== undefined && !all.some(({ name }) => name === only))
    throw new Failure('not_found', `There is no setting ${only}; ${meantOr(only, 'svc settings lists all of them.')}`)
  if (json) console.log(JSON.stringify(chosen, null, 2))
  else if (only !== undefined) for (const each of chosen) console.log(aboutOne(each))
  else console.log(table(chosen))
  readSettings(process.env)
}

const meantOr = (name: string, otherwise: string): string => {
  const meant = closestSetting(name)
  return meant === null ? otherwise : `did you mean ${meant}?`
}

const aboutOne = ({ name, value, from, meaning }: Shown): string => `${name} = ${value}  (${from})\n${meaning}`

const table = (settings: readonly Shown[]): string => {
  const rows = [
    ['SETTING', 'VALUE', 'FROM', 'MEANING'],
    ...settings.map(({ name, value, from, meaning }) => [name, value, from, meaning]),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
