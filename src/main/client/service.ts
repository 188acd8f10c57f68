import type { Static, TObject, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import type { AccessRule, BodyKind, BodyOf, Operation, ResponseTable } from '../../contract/operation.ts'
import { commandAnswerMs } from '../../kernel/limits/process.ts'
import { CommandFailed } from './command-failed.ts'

/** Whom commands speak to, and what they show to be let in. */
export interface Endpoint {
  /** Without a trailing slash. */
  readonly address: string
  /** Null for what needs none. */
  readonly credential: string | null
  /** Where the credential came from, for people: such as `SVC_TOKEN`. */
  readonly credentialFrom: string
}

type Done<Responses extends ResponseTable> = {
  [S in keyof Responses & number]: Responses[S] extends { schema: infer B extends TSchema } ? Static<B> : null
}[keyof Responses & number]

/** A running service, as commands see it: they call operations by their declarations. */
export interface Service {
  readonly endpoint: Endpoint
  /** What the operation answers; throws {@link CommandFailed} with the words of the service where it refuses. */
  call<
    Path extends TObject,
    Query extends TObject,
    Headers extends TObject,
    Body extends BodyKind,
    Responses extends ResponseTable,
    Rule extends AccessRule,
  >(
    operation: Operation<Path, Query, Headers, Body, Responses, Rule>,
    input?: {
      readonly path?: Static<Path>
      readonly query?: Static<Query>
      readonly headers?: Static<Headers>
      readonly body?: BodyOf<Body>
    },
  ): Promise<Done<Responses>>
}

interface Wish {
  readonly path?: unknown
  readonly query?: unknown
  readonly headers?: unknown
  readonly body?: unknown
}

/** Fields of an object as text, for places where there is nothing but text. */
const texts = (fields: unknown): [string, string][] =>
  typeof fields === 'object' && fields !== null
    ? Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    : []

const targetOf = ({ path }: Pick<Operation, 'path'>, wish: Wish): string => {
  const inPath = new Map(texts(wish.path))
  const filled = path.replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => encodeURIComponent(inPath.get(name) ?? ''))
  const query = new URLSearchParams(texts(wish.query)).toString()
  return query === '' ? filled : `${filled}?${query}`
}

/** Speaks to a service. Nothing is sent before the first call. */
export const serviceAt = (endpoint: Endpoint): Service => ({
  endpoint,
  call: async (operation, wish = {}) => {
    const answer = await ask(endpoint, operation.method, targetOf(operation, wish), wish)
    const text = await answer.text()
    if (!answer.ok) throw refusalIn(endpoint, answer.status, text)
    // The same declaration made the answer, and tests hold every answer of the service against its declaration.
    return (text === '' ? null : jsonOf(endpoint, text)) as Done<typeof operation.responses>
  },
})

const ask = async (endpoint: Endpoint, method: string, target: string, { headers, body }: Wish): Promise<Response> => {
  try {
    return await fetch(`${endpoint.address}${target}`, {
      method,
      headers: {
        ...Object.fromEntries(texts(headers)),
        ...(endpoint.credential === null ? {} : { authorization: `Bearer ${endpoint.credential}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A credential goes nowhere but where it was meant to go.
      redirect: 'error',
      signal: AbortSignal.timeout(commandAnswerMs),
    })
  } catch (error) {
    throw new CommandFailed('noService', noAnswer(endpoint.address, error))
  }
}

const noAnswer = (address: string, error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const what: Readonly<Record<string, string>> = {
    ECONNREFUSED: `Nothing runs at ${address}`,
    ENOTFOUND: `There is no host ${address}`,
    EAI_AGAIN: `There is no host ${address}`,
  }
  const slow = error instanceof Error && error.name === 'TimeoutError'
  const why = slow
    ? `${address} did not answer in ${commandAnswerMs / 1000} s`
    : `${address} could not be asked (${cause instanceof Error ? cause.message : String(cause)})`
  return `${what[code] ?? why}. Start the service (svc up), or set SVC_URL to where it is.`
}

const foreign = (address: string): CommandFailed =>
  new CommandFailed('noService', `Something answers at ${address}, but it is not svc. Set SVC_URL to where svc is.`)

const jsonOf = ({ address }: Endpoint, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw foreign(address)
  }
}

/**
 * An answer that is kept: throws {@link CommandFailed} unless it has every field that its declaration promises. Fields
 * of a newer service are no reason.
 */
export const asDeclared = <S extends TSchema>({ address }: Endpoint, schema: S, answer: unknown): Static<S> => {
  const known = Value.Clean(schema, structuredClone(answer))
  if (Value.Check(schema, known)) return known
  throw foreign(address)
}

const field = (value: unknown, name: string): string => {
  if (typeof value !== 'object' || value === null) return ''
  const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1]
  return typeof found === 'string' ? found : ''
}

const refusalIn = (endpoint: Endpoint, status: number, text: string): CommandFailed => {
  const problem = jsonOf(endpoint, text)
  const [code, detail] = [field(problem, 'code'), field(problem, 'detail')]
  if (code === '') return foreign(endpoint.address)
  if (status === 401 && endpoint.credential === null) return new CommandFailed('credentialRefused', detail)
  if (status === 401)
    return new CommandFailed(
      'credentialRefused',
      `${endpoint.address} refuses the credential of ${endpoint.credentialFrom}: ${detail}`,
    )
  if (status === 403)
    return new CommandFailed('credentialRefused', `The credential of ${endpoint.credentialFrom} may not: ${detail}`)
  return new CommandFailed(status === 404 ? 'unknownName' : 'failed', detail)
}
