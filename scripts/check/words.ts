/**
 * One word for one thing: words that once meant several, or that say nothing to a newcomer, and what is said instead
 * (docs/reference/words.md). Looked for in names, not in prose.
 */
export const forbiddenWords: readonly { readonly word: RegExp; readonly instead: string }[] = [
  {
    word: /^turns?$/,
    instead: 'lease (of an upload), slot (of a download), gate (of a bound), round (of the event loop)',
  },
  { word: /^doers?$/, instead: 'actor' },
  { word: /^growths?$/, instead: 'watch (of a journal)' },
  { word: /^circles?$/, instead: 'scope (of what a policy keeps)' },
  { word: /^keepers$/, instead: 'blockers' },
  { word: /^backstage$/, instead: 'inspection' },
]

/** Words that mean one thing, on the floors that have it; elsewhere they would say something else. */
const wordsWithHomes: readonly { readonly word: RegExp; readonly home: RegExp; readonly instead: string }[] = [
  {
    word: /^places?$/,
    home: /^src\/(?:ports|adapters|content|database\/tables|features\/transfers)\//,
    instead: 'place is where bytes lie in staging: say seat, position, section, endpoint or what it is',
  },
]

/** A type whose name ends so is a part of something; what a function is handed to work with are its dependencies. */
const bundle = /\b(?:interface|type|class) ([A-Z]?\w*Parts)\b/

const notNames = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

const wordsOf = (name: string): string[] => name.split(/\d+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase())

const withoutTexts = (text: string): string => text.replaceAll(notNames, (found) => found.replaceAll(/[^\n]/g, ' '))

/** Every name in a text of TypeScript, with its line. Names of columns have underscores and are none. */
const namesIn = (text: string): { readonly name: string; readonly line: number; readonly words: string[] }[] =>
  withoutTexts(text)
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(/(?<![A-Za-z0-9$_])[A-Za-z$][A-Za-z0-9$]*(?![A-Za-z0-9$_])/g)].map(([name]) => ({
        name,
        line: index + 1,
        words: wordsOf(name),
      })),
    )

/** Where a text of TypeScript has such a word in a name, as `line name: what is said instead`. */
export const forbiddenNames = (text: string): string[] => {
  const bundled = new Set(
    withoutTexts(text)
      .split('\n')
      .map((line, index) => `${index + 1} ${bundle.exec(line)?.[1] ?? ''}`),
  )
  return namesIn(text).flatMap(({ name, line, words }) => {
    const found = forbiddenWords.find(({ word }) => words.some((each) => word.test(each)))
    const instead = found?.instead ?? (bundled.has(`${line} ${name}`) ? name.replace(/Parts$/, 'Deps') : null)
    return instead === null ? [] : [`${line} ${name}: ${instead}`]
  })
}

/** The same for words that a name may have on some floors only, of which this path is none. */
export const namesAwayFromHome = (path: string, text: string): string[] => {
  const away = wordsWithHomes.filter(({ home }) => !home.test(path))
  return namesIn(text).flatMap(({ name, line, words }) => {
    const found = away.find(({ word }) => words.some((each) => word.test(each)))
    return found === undefined ? [] : [`${line} ${name}: ${found.instead}`]
  })
}
