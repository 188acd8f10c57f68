import { i18n, type Messages } from '@lingui/core'
import { seen } from '../values/unseen.ts'
import type { Words } from './ids.ts'

export const languages = ['en', 'ru'] as const
export type Language = (typeof languages)[number]

/** What `import` gives is what the build made of a catalog: its messages, compiled. */
const catalogs: Readonly<Record<Language, () => Promise<unknown>>> = {
  en: () => import('./en.words.json'),
  ru: () => import('./ru.words.json'),
}

interface Compiled {
  readonly words: Messages
}

const isCompiled = (module: unknown): module is Compiled =>
  typeof module === 'object' && module !== null && 'words' in module

const storeKey = 'svc.language'

const isLanguage = (text: unknown): text is Language => text === 'en' || text === 'ru'

/** The language of the address where it names one, of an earlier choice, or the first of the browser's that we speak. */
export const preferredLanguage = (): Language => {
  const named = new URLSearchParams(location.search).get('lang')
  if (isLanguage(named)) return named
  const chosen = localStorage.getItem(storeKey)
  if (isLanguage(chosen)) return chosen
  return navigator.languages.map((each) => each.slice(0, 2)).find(isLanguage) ?? 'en'
}

export const speak = async (language: Language): Promise<void> => {
  const module = await catalogs[language]()
  if (!isCompiled(module)) throw new Error('The words were not compiled')
  i18n.loadAndActivate({ locale: language, messages: module.words })
  document.documentElement.lang = language
}

export const choose = async (language: Language): Promise<void> => {
  localStorage.setItem(storeKey, language)
  await speak(language)
}

export const language = (): Language => (isLanguage(i18n.locale) ? i18n.locale : 'en')

type WithHoles = { [Id in keyof Words]: Words[Id] extends null ? never : Id }[keyof Words]
export type PlainId = Exclude<keyof Words, WithHoles>

const isText = (of: string | number): of is string => typeof of === 'string'

/** What the console says, in the language of whoever reads it. Names in it come from anybody. */
export function t(id: PlainId): string
export function t<Id extends WithHoles>(id: Id, holes: Words[Id]): string
export function t(id: keyof Words, holes: Readonly<Record<string, string | number>> = {}): string {
  return i18n._(id, Object.fromEntries(Object.entries(holes).map(([hole, of]) => [hole, isText(of) ? seen(of) : of])))
}

/** The words of the contract for which something is said. */
export const wordsOf = (group: string): string[] =>
  Object.keys(i18n.messages)
    .filter((id) => id.startsWith(`${group}.`))
    .map((id) => id.slice(group.length + 1))

/** What is said for a word of the contract; the word itself where nothing is. */
export const said = (group: string, word: string): string => {
  const id = `${group}.${word}`
  return id in i18n.messages ? i18n._(id) : word
}
