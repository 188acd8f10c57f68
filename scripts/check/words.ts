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
  { word: /^growth$/, instead: 'watch (of a journal)' },
  { word: /^circles?$/, instead: 'scope (of what a policy keeps)' },
  { word: /^keepers$/, instead: 'blockers' },
  { word: /^backstage$/, instead: 'inspection' },
]

/** A type whose name ends so is a part of something; what a function is handed to work with are its dependencies. */
const bundle = /\b(?:interface|type|class) ([A-Z]?\w*Parts)\b/

const notNames = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

const wordsOf = (name: string): string[] => name.split(/(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase())

/**
 * Where a text of TypeScript has such a word in a name, as `line name: what is said instead`. Names of columns have
 * underscores.
 */
export const forbiddenNames = (text: string): string[] => {
  const bare = text.replaceAll(notNames, (found) => found.replaceAll(/[^\n]/g, ' '))
  return bare.split('\n').flatMap((line, index) => {
    const bundled = bundle.exec(line)?.[1]
    return [...line.matchAll(/(?<![A-Za-z0-9$_])[A-Za-z$][A-Za-z0-9$]*(?![A-Za-z0-9$_])/g)].flatMap(([name]) => {
      const words = wordsOf(name)
      const found = forbiddenWords.find(({ word }) => words.some((each) => word.test(each)))
      const instead = found?.instead ?? (name === bundled ? name.replace(/Parts$/, 'Deps') : null)
      return instead === null ? [] : [`${index + 1} ${name}: ${instead}`]
    })
  })
}
