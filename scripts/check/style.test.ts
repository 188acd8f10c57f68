import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'

interface Report {
  readonly diagnostics: readonly { readonly category: string }[]
}

const port = `export interface Store {
  delete(digest: string): Promise<boolean>
}
export const save = async (value: number): Promise<number> => value
export async function inferred(value: number) {
  return await save(value)
}
`

const library = `export declare class Query {
  where(text: string): Query
  execute(): Promise<number>
}
export declare const select: () => Query
`

/** The rules that a source breaks, under the settings of this repository. */
const broken = (path: string, source: string): string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-style-'))
  const files: Record<string, string> = {
    'package.json': JSON.stringify({ type: 'module', dependencies: { library: '1.0.0' } }),
    'biome.json': readFileSync('biome.json', 'utf8').replace(
      '"enabled": true, "clientKind": "git"',
      '"enabled": false',
    ),
    'node_modules/library/package.json': JSON.stringify({ name: 'library', types: './index.d.ts', main: './index.js' }),
    'node_modules/library/index.d.ts': library,
    'src/ports/store.ts': port,
    [path]: source,
  }
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const { stdout } = spawnSync('biome', ['lint', '--reporter=json', path], { cwd: folder, encoding: 'utf8' })
    return (JSON.parse(stdout) as Report).diagnostics.map(({ category }) => category.split('/').at(-1) ?? '')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const inFunction = (imports: string, body: string): string =>
  `${imports}\n\nexport const go = (): void => {\n  ${body}\n}\n`

describe('a promise floats', () => {
  const cases: Record<string, string> = {
    'of a method of a port': `import type { Store } from './store.ts'\nexport const go = (store: Store): void => {\n  store.delete('x')\n}\n`,
    'of a part of an object of parts': `import type { Store } from './store.ts'\nexport const go = (parts: { store: Store }): void => {\n  parts.store?.delete('x')\n}\n`,
    'of a private field': `import type { Store } from './store.ts'\nexport class User {\n  readonly #store: Store\n  constructor(store: Store) {\n    this.#store = store\n  }\n  go(): void {\n    this.#store.delete('x')\n  }\n}\n`,
    'of a function of another module': inFunction(`import { save } from './store.ts'`, 'save(1)'),
    'of a function without a written type': inFunction(`import { inferred } from './store.ts'`, 'inferred(1)'),
    'of a chain of a package': inFunction(`import { select } from 'library'`, `select().where('x').execute()`),
    'of a list of promises': inFunction(`import { save } from './store.ts'`, ';[1, 2].map((value) => save(value))'),
    'with a then and no catch': inFunction(`import { save } from './store.ts'`, 'save(1).then((value) => value)'),
  }
  for (const [name, source] of Object.entries(cases)) {
    test(name, () => assert.deepEqual(broken('src/ports/user.ts', source), ['noFloatingPromises']))
  }
})

describe('refused', () => {
  const cases: [rule: string, source: string][] = [
    ['noExplicitAny', 'export const go = (value: any): unknown => value\n'],
    ['noNonNullAssertion', 'export const go = (value: string | null): string => value!\n'],
    ['useImportType', `import { Store } from './store.ts'\nexport type Mine = Store\n`],
    ['noConsole', `export const go = (): void => console.log('x')\n`],
    ['noProcessEnv', `export const go = (): string | undefined => process.env['HOME']\n`],
    ['noDefaultExport', 'export default 1\n'],
    ['noUndeclaredDependencies', `import { x } from 'elsewhere'\nexport const go = (): unknown => x\n`],
    ['noMisusedPromises', 'export const go = (list: number[]): void => list.forEach(async (value) => void value)\n'],
  ]
  for (const [rule, source] of cases) {
    test(rule, () => assert.ok(broken('src/ports/user.ts', source).includes(rule), rule))
  }
})

test('pages of the console show words by their ids, and no HTML of others', () => {
  const page = (shown: string): string => `export const Go = ({ html }: { readonly html: string }) => ${shown}\n`
  const path = 'console/src/pages/go.tsx'
  assert.deepEqual(broken(path, page('<p id={html}>Hello</p>')), ['noJsxLiterals'])
  assert.ok(
    broken(path, page('<p dangerouslySetInnerHTML={{ __html: html }} />')).includes('noDangerouslySetInnerHtml'),
  )
  assert.deepEqual(broken(path, page('<p>{html} · {html}</p>')), [])
})

test('commands and scripts may write to the terminal, and main may read the environment', () => {
  const prints = `export const go = (): void => console.log('x')\n`
  assert.deepEqual(broken('src/main/commands/settings.ts', prints), [])
  assert.deepEqual(broken('scripts/check.ts', prints), [])
  const reads = `export const go = (): string | undefined => process.env['HOME']\n`
  assert.deepEqual(broken('src/main/settings/read.ts', reads), [])
})
