import { needsNothing, type Operation, shownPath } from '../../src/contract/operation.ts'
import { administrationActions, repositoryActions, systemActions } from '../../src/kernel/actions.ts'
import { failures } from '../../src/kernel/failure.ts'
import { catalogue } from '../../src/main/catalogue.ts'

/**
 * The contract as the console knows it: the operations of the JSON interface with their types, and how each is asked
 * for. The console imports nothing of the service but this page, so that neither can disagree with the other unseen.
 */

type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const nameOf = (text: string): string => (/^[A-Za-z_]\w*$/.test(text) ? text : quoted(text))

/** Long lists of words that many operations share, by what the console calls them. */
const shared: readonly (readonly [name: string, words: readonly string[]])[] = [
  ['RepositoryAction', repositoryActions],
  ['AdministrationAction', administrationActions],
  ['SystemAction', systemActions],
  ['FailureCode', Object.keys(failures)],
]

/** Those of them among which people choose, as lists. */
const chosen: Readonly<Record<string, readonly string[]>> = { repositoryActions, administrationActions, systemActions }
const typeNamed = (list: string): string => list.charAt(0).toUpperCase() + list.slice(1, -1)

const union = (words: readonly unknown[]): string => {
  let left = [...words]
  const named: string[] = []
  for (const [name, all] of shared) {
    if (!all.every((word) => left.includes(word))) continue
    left = left.filter((word) => !all.some((each) => each === word))
    named.push(name)
  }
  return [...named, ...left.map(literal)].join(' | ')
}

/** A literal of a schema, as TypeScript writes it. */
const literal = (value: unknown): string => (typeof value === 'string' ? quoted(value) : JSON.stringify(value))

const nothing = 'Record<string, never>'

const fieldsOf = (schema: Json): string => {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  const required = new Set(listOf(schema['required']))
  const fields = Object.entries(properties).map(
    ([name, each]) => `${nameOf(name)}${required.has(name) ? '' : '?'}: ${typeOf(each)}`,
  )
  return fields.length === 0 ? nothing : `{ ${fields.join('; ')} }`
}

/** The type of what a JSON Schema describes. */
const typeOf = (schema: unknown): string => {
  if (!isRecord(schema)) return 'unknown'
  if ('const' in schema) return literal(schema['const'])
  if (Array.isArray(schema['enum'])) return union(schema['enum'])
  if (Array.isArray(schema['anyOf'])) return [...new Set(schema['anyOf'].map(typeOf))].join(' | ')
  if (isRecord(schema['patternProperties'])) {
    const [each] = Object.values(schema['patternProperties'])
    return `Record<string, ${typeOf(each)}>`
  }
  switch (schema['type']) {
    case 'object':
      return 'properties' in schema ? fieldsOf(schema) : 'Record<string, unknown>'
    case 'array':
      return `Array<${typeOf(schema['items'])}>`
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    default:
      return 'unknown'
  }
}

const plain = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema))

const answerOf = ({ responses }: Operation): string => {
  const good = Object.entries(responses).filter(([status]) => Number(status) < 300)
  const types = good.map(([, { schema }]) => (schema === null ? 'null' : typeOf(plain(schema))))
  return [...new Set(types)].join(' | ') || 'null'
}

/** A part of what is given, left out where there is none and open where nothing of it has to be there. */
const partOf = (name: string, type: string, needed: boolean): string[] =>
  type === nothing ? [] : [`${name}${needed ? '' : '?'}: ${type}`]

const givenOf = (operation: Operation): string => {
  const { pathParameters, query, headers, body } = operation
  const needs = (schema: unknown): boolean => isRecord(schema) && listOf(schema['required']).length > 0
  const all = [
    ...partOf('path', typeOf(plain(pathParameters)), true),
    ...partOf('query', typeOf(plain(query)), needs(plain(query))),
    ...partOf('headers', typeOf(plain(headers)), needs(plain(headers))),
    ...(body.kind === 'json' ? partOf('body', typeOf(plain(body.schema)), !needsNothing(operation)) : []),
    ...(body.kind === 'stream' || body.kind === 'bytes' ? ['body: Blob'] : []),
  ]
  return all.length === 0 ? nothing : `{ ${all.join('; ')} }`
}

const typesOf = (operation: Operation): string =>
  [
    `  /** ${operation.summary.replaceAll('*/', '')}. */`,
    `  ${operation.id}: {`,
    `    given: ${givenOf(operation)}`,
    `    answer: ${answerOf(operation)}`,
    '  }',
  ].join('\n')

/** Who may, as the console asks: by actions on what the path names, or by what the caller is. */
const accessOf = ({ access }: Operation): string => {
  switch (access.kind) {
    case 'repository':
      return `{ repository: [${access.actions.map(quoted).join(', ')}] }`
    case 'administration':
    case 'system':
    case 'own-job':
      return `{ ${access.kind === 'own-job' ? 'repository: [' : `${access.kind}: `}${quoted(access.action)}${access.kind === 'own-job' ? ']' : ''} }`
    default:
      return quoted(access.kind)
  }
}

const entryOf = (operation: Operation): string =>
  `  ${operation.id}: [${quoted(operation.method)}, ${quoted(shownPath(operation))}, ${accessOf(operation)}],`

const isForPages = ({ path }: Operation): boolean => /^\/(?:api\/v1|health)\//.test(path)

export const consoleContract = (): string => {
  const operations = catalogue().filter(isForPages)
  return [
    '// Generated by `npm run reference` from the declared operations; do not edit.',
    '',
    'export interface Contract {',
    ...operations.map(typesOf),
    '}',
    '',
    '/** Everything that may be allowed: in a repository, with service accounts, with backups. */',
    ...Object.entries(chosen).map(
      ([name, words]) =>
        `export const ${name} = [\n${words.map((each) => `  ${quoted(each)},\n`).join('')}] as const\n`,
    ),
    ...Object.keys(chosen).map((name) => `export type ${typeNamed(name)} = (typeof ${name})[number]`),
    '',
    ...shared
      .filter(([name]) => !Object.keys(chosen).some((list) => typeNamed(list) === name))
      .map(([name, words]) => `export type ${name} =\n${words.map((each) => `  | ${quoted(each)}\n`).join('')}`),
    '/** Method, path and who may, of each operation. */',
    'export const operations = {',
    ...operations.map(entryOf),
    '} as const',
    '',
  ].join('\n')
}
