/**
 * Three rules that no linter of ours can see, on the syntax tree:
 *
 * - A promise of a built-in module, or of a query that runs, is awaited, returned or marked with `void`. Biome's
 *   noFloatingPromises sees promises of our own modules and of packages, but not of `node:*`, whose types are declared
 *   by name and not by file, and not at the end of every chain of calls.
 * - A type is imported by an import declaration, never by `import('…')` inside a type: dependency-cruiser does not see
 *   those, so they would slip through the import table.
 * - A package is imported by an import declaration. The build makes one module of what is loaded late, and a package of
 *   the older kind has no names there: what is loaded late is a module of ours, which imports the package.
 */
import { globSync, readFileSync } from 'node:fs'
import { parseSync } from '@swc/core'

export interface Finding {
  readonly line: number
  readonly message: string
}

interface Syntax {
  readonly type?: string
  readonly span?: { readonly start: number }
  readonly [field: string]: unknown
}

const isSyntax = (value: unknown): value is Syntax => typeof value === 'object' && value !== null

const child = (node: Syntax | undefined, field: string): Syntax | undefined => {
  const value = node?.[field]
  return isSyntax(value) ? value : undefined
}

const textOf = (node: Syntax | undefined): string | undefined =>
  typeof node?.['value'] === 'string' ? node['value'] : undefined

function* everyNode(node: Syntax): Generator<Syntax> {
  if (node.type !== undefined) yield node
  for (const value of Object.values(node)) if (isSyntax(value)) yield* everyNode(value)
}

/** `import('a-package')`, neither of a file nor of what Node has. */
const isLatePackage = (node: Syntax): boolean => {
  if (node.type !== 'CallExpression' || child(node, 'callee')?.type !== 'Import') return false
  const [argument] = Object.values(child(node, 'arguments') ?? {}).filter(isSyntax)
  const named = child(argument, 'expression')
  return named?.type === 'StringLiteral' && /^(?!node:)[\w@]/.test(textOf(named) ?? '')
}

/** Functions of built-in modules that give promises, besides everything in `node:…/promises`. */
const promising = new Map([['node:events', ['once']]])

/** How a query of Kysely runs. Its types are too deep for Biome to follow in every chain. */
const running = new Set(['execute', 'executeTakeFirst', 'executeTakeFirstOrThrow'])

/** Methods of an event emitter: what they return is no promise. */
const emitting = new Set(['on', 'once', 'off', 'emit', 'addListener', 'removeListener', 'removeAllListeners'])

/** Names in this file that stand for such a function, for a module full of them, or for a file handle. */
const names = (nodes: Syntax[]) => {
  const functions = new Set<string>()
  const modules = new Set<string>()
  const openers = new Set<string>()
  const handles = new Set<string>()
  for (const node of nodes) {
    if (node.type !== 'ImportDeclaration' || node['typeOnly'] === true) continue
    const source = textOf(child(node, 'source')) ?? ''
    for (const specifier of Object.values(child(node, 'specifiers') ?? {}).filter(isSyntax)) {
      const local = textOf(child(specifier, 'local')) ?? ''
      const imported = textOf(child(specifier, 'imported')) ?? local
      if (/^node:.+\/promises$/.test(source)) {
        if (specifier.type === 'ImportSpecifier') functions.add(local)
        else modules.add(local)
        if (imported === 'open') openers.add(local)
      } else if (source.startsWith('node:') && imported === 'promises') modules.add(local)
      else if (promising.get(source)?.includes(imported)) functions.add(local)
    }
  }
  for (const node of nodes) {
    const annotation = child(child(child(node, 'typeAnnotation'), 'typeAnnotation'), 'typeName')
    if (textOf(annotation) === 'FileHandle') handles.add(textOf(node) ?? textOf(child(node, 'key')) ?? '')
    const opened = textOf(child(child(child(node, 'init'), 'argument'), 'callee'))
    if (node.type === 'VariableDeclarator' && openers.has(opened ?? '')) handles.add(textOf(child(node, 'id')) ?? '')
  }
  return { functions, modules, handles }
}

export const findingsIn = (source: string): Finding[] => {
  const tree: unknown = parseSync(source, { syntax: 'typescript', target: 'esnext' })
  if (!isSyntax(tree)) return []
  const bytes = Buffer.from(source)
  const lineOf = (node: Syntax): number =>
    bytes
      .subarray(0, (node.span?.start ?? 1) - 1)
      .toString()
      .split('\n').length
  const nodes = [...everyNode(tree)]
  const { functions, modules, handles } = names(nodes)

  const promised = (call: Syntax | undefined): string | undefined => {
    const callee = child(call, 'callee')
    if (call?.type !== 'CallExpression' || callee === undefined) return undefined
    const name = textOf(callee)
    if (name !== undefined) return functions.has(name) ? name : undefined
    const object = child(callee, 'object')
    const method = textOf(child(callee, 'property')) ?? ''
    const owner = textOf(object) ?? textOf(child(object, 'property')) ?? ''
    if (running.has(method)) return method
    if (modules.has(owner) || (handles.has(owner) && !emitting.has(method))) return `${owner}.${method}`
    // A chain: `writeFile(…).then(…)` still floats, unless it ends in a catch.
    return method === 'catch' ? undefined : promised(object)
  }

  const findings: Finding[] = []
  for (const node of nodes) {
    if (node.type === 'TsImportType') {
      findings.push({
        line: lineOf(node),
        message: "import('…') inside a type: write `import type` at the top instead",
      })
    }
    if (isLatePackage(node)) {
      findings.push({
        line: lineOf(node),
        message: "import('…') of a package: import it in a module of ours, and load that",
      })
    }
    const name = node.type === 'ExpressionStatement' ? promised(child(node, 'expression')) : undefined
    if (name !== undefined) {
      findings.push({
        line: lineOf(node),
        message: `the promise of ${name}() floats: await it, return it or mark it with void`,
      })
    }
  }
  return findings
}

if (import.meta.main) {
  const files = globSync('{src,test,bench,scripts}/**/*.ts')
  for (const file of files) {
    for (const { line, message } of findingsIn(readFileSync(file, 'utf8'))) {
      console.error(`${file}:${line} ${message}`)
      process.exitCode = 1
    }
  }
}
