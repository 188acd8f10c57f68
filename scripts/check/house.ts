/*
 * What the house promises about its files and no tool at hand checks, as functions of what files say: test/tidy looks
 * at the files that there are, and a test beside this breaks each rule.
 */

/** A file and what it says. */
export interface Page {
  readonly path: string
  readonly text: string
}

const linesOf = ({ text }: Page): number => text.split('\n').length - 1

/** Those of more lines than this. */
export const longerThan = (most: number, files: readonly Page[]): string[] =>
  files.filter((file) => linesOf(file) > most).map((file) => `${file.path} (${linesOf(file)} lines)`)

/** Comments as wide as no screen beside another, as `path:line`. Biome keeps code to the same width, and no comment. */
export const widerComments = (most: number, files: readonly Page[]): string[] =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        line.length > most && /^\s*(?:\/\/|\/\*|\*\s)/.test(line) ? [`${path}:${index + 1}`] : [],
      ),
  )

/**
 * Handlers speak of operations as `operations.<id>`, so that an id is one search from its declaration to its rule, and
 * the rule may bear the same name.
 */
export const handlersWithOtherNames = (handlers: readonly Page[]): string[] =>
  handlers
    .filter(({ text }) => {
      const bound = [...text.matchAll(/\bhandle\((?!operations\.)/g)]
      return bound.length > 0 || !text.includes("import * as operations from './operations.ts'")
    })
    .map(({ path }) => path)

/** Units that a file defines for itself, such as `const hour = 3_600_000`, as `path: name`. */
export const unitsDefinedAgain = (files: readonly Page[]): string[] =>
  files.flatMap(({ path, text }) =>
    [
      ...text.matchAll(
        /^ *(?:export )?const (second|minute|hour|day|[KMGT]iB|mebibyte)(?:Ms)? = (?:[\d_]+|1024 \*.*)(?: \* .*)?$/gm,
      ),
    ].map(([, name]) => `${path}: ${name}`),
  )

const floors = 'main|kernel|contract|ports|adapters|database|content|journal|jobs|features|protocols|http'
const tree = new RegExp(
  String.raw`\`((?:(?:src|test|bench|scripts|docs)\/|(?:${floors})\/)[\w./-]*[\w/]|[a-z-]+\.(?:queries\.)?ts)\``,
  'g',
)

/**
 * The paths that a document names in code, each as it may stand: from the root, from src, or a file's bare name.
 * Patterns and placeholders (`<noun>.ts`, `*.queries.ts`) are no paths.
 */
export const pathsNamedIn = (document: string): string[] => [
  ...new Set([...document.matchAll(tree)].map(([, path = '']) => path)),
]

/** Paths that a document names and that are neither files nor folders. */
export const missingPaths = (document: string, files: readonly string[]): string[] =>
  pathsNamedIn(document).filter((named) => {
    const path = named.replace(/\/$/, '')
    return !files.some(
      (file) =>
        ['', 'src/'].some((root) => file === root + path || file.startsWith(`${root}${path}/`)) ||
        (!path.includes('/') && file.endsWith(`/${path}`)),
    )
  })
