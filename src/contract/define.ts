import Type, { type TObject, type TSchema } from 'typebox'
import { bytesBodyMax, jsonBodyBytesMax } from '../kernel/limits/http.ts'
import { type AccessRule, type BodyKind, type Operation, type ResponseTable, secondOf } from './operation.ts'

type NoFields = TObject<Record<never, never>>

const noFields: NoFields = Type.Object({}, { additionalProperties: false })

type Optional =
  | 'pathParameters'
  | 'query'
  | 'headers'
  | 'body'
  | 'conditions'
  | 'failures'
  | 'download'
  | 'linkable'
  | 'passFor'
  | 'openToReadTokens'
  | 'openOnReaders'
  | 'whileDraining'

type Declaration<
  Path extends TObject,
  Query extends TObject,
  Headers extends TObject,
  Body extends BodyKind,
  Responses extends ResponseTable,
  Rule extends AccessRule,
> = Omit<Operation<Path, Query, Headers, Body, Responses, Rule>, Optional> &
  Partial<Pick<Operation<Path, Query, Headers, Body, Responses, Rule>, Optional>>

const names = (path: string): string[] => [...path.matchAll(/\{([a-zA-Z]+)[*+]?\}/g)].map((match) => match[1] ?? '')

/** Whether a pointer to a text of the request leads to something that is declared. */
const isDeclared = (
  at: string,
  { query, headers, body }: Partial<Pick<Operation, 'query' | 'headers' | 'body'>>,
): boolean => {
  const [, section = '', name = ''] = /^\/(?:(query|headers)\/)?([^/]+)$/.exec(at) ?? []
  const json: Record<string, unknown> = { ...(body?.kind === 'json' ? body.schema : {}) }
  const among =
    section === 'query' ? query?.properties : section === 'headers' ? headers?.properties : json['properties']
  return typeof among === 'object' && among !== null && name in among
}

/**
 * Declares an operation. What is left out defaults to nothing: no parameters, no body, no conditions. Throws when the
 * declaration contradicts itself, so that a wrong one never starts.
 */
export const defineOperation = <
  Path extends TObject = NoFields,
  Query extends TObject = NoFields,
  Headers extends TObject = NoFields,
  const Body extends BodyKind = { kind: 'none' },
  const Responses extends ResponseTable = ResponseTable,
  const Rule extends AccessRule = AccessRule,
>(
  declaration: Declaration<Path, Query, Headers, Body, Responses, Rule>,
): Operation<Path, Query, Headers, Body, Responses, Rule> => {
  const { id, path, access, method } = declaration
  const declared = Object.keys(declaration.pathParameters?.properties ?? {})
  const inPath = names(path)
  if (declared.length !== inPath.length || inPath.some((name) => !declared.includes(name)))
    throw new Error(`${id}: the path ${path} and its declared parameters ${declared.join(', ')} differ`)
  if (access.kind === 'repository' && !inPath.includes('repository'))
    throw new Error(`${id}: access by repository needs {repository} in the path ${path}`)
  const second = secondOf(access)
  if (second !== null && !isDeclared(second.at, declaration))
    throw new Error(`${id}: nothing is declared at ${second.at}, where a repository should stand`)
  if (method === 'GET' && declaration.body !== undefined && declaration.body.kind !== 'none')
    throw new Error(`${id}: a GET has no body`)
  if (declaration.linkable === true && !('token' in (declaration.query?.properties ?? {}) && inPath.includes('id')))
    throw new Error(`${id}: what a link opens needs {id} in its path and token in its query`)
  if (declaration.linkable === true && access.kind !== 'repository')
    throw new Error(`${id}: a link opens only what belongs to a repository`)
  if (declaration.passFor?.to.some((name) => !inPath.includes(name)))
    throw new Error(`${id}: a pass is for what the path ${path} names`)
  // The defaults are the type parameters' defaults: where a part is left out, its parameter is the empty one.
  const defaults = { pathParameters: noFields, query: noFields, headers: noFields, body: { kind: 'none' } }
  return {
    ...defaults,
    conditions: [],
    failures: [],
    download: false,
    linkable: false,
    passFor: null,
    openToReadTokens: false,
    openOnReaders: false,
    whileDraining: false,
    ...declaration,
  } as Operation<Path, Query, Headers, Body, Responses, Rule>
}

/** A JSON body of at most `maxBytes`. */
export const jsonBody = <S extends TSchema>(schema: S, maxBytes: number = jsonBodyBytesMax) =>
  ({ kind: 'json', schema, maxBytes }) as const

/** A small body that is kept as it is sent: at most `maxBytes` of these media types; null takes any, also none. */
export const bytesBody = (mediaTypes: readonly string[] | null, maxBytes: number = bytesBodyMax) =>
  ({ kind: 'bytes', mediaTypes, maxBytes }) as const

/** A JSON answer. */
export const answers = <S extends TSchema>(
  description: string,
  schema: S,
  headers?: Readonly<Record<string, string>>,
) => ({ description, schema, ...(headers === undefined ? {} : { headers }) }) as const

/** An answer without body. */
export const answersNothing = (description: string) => ({ description, schema: null }) as const
