import { type Contract, operations } from './generated.ts'
import { Problem, problemOf } from './problem.ts'

export type OperationId = keyof Contract

/** What an operation takes: those of its parts that it has. */
export type Given<Id extends OperationId> = Contract[Id]['given']

export type Answer<Id extends OperationId> = Contract[Id]['answer']

/** The same, without its names: what is sent is made of any operation in one way. */
export interface AnyGiven {
  readonly path?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  readonly body?: unknown
}

/** Where the service is: the console lies in one folder of it, with whatever path a proxy gave it. */
export const serviceAddress = (): URL => new URL('../', document.baseURI)

/** The address of an operation, relative to nothing. */
export const addressOf = (id: OperationId, { path = {}, query = {} }: AnyGiven): URL => {
  const [, template] = operations[id]
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'assetPath'
      ? (path[name] ?? '').split('/').map(encodeURIComponent).join('/')
      : encodeURIComponent(path[name] ?? ''),
  )
  const url = new URL(filled.slice(1), serviceAddress())
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(each))
  }
  return url
}

/** Asks the service. Throws a {@link Problem} for everything that is no good answer. */
export const call = async <Id extends OperationId>(
  id: Id,
  given: Given<Id>,
  secret: string | null,
  signal?: AbortSignal,
): Promise<Answer<Id>> => {
  const [method] = operations[id]
  const all: AnyGiven = given
  const headers = new Headers()
  if (secret !== null) headers.set('authorization', `Bearer ${secret}`)
  for (const [name, value] of Object.entries(all.headers ?? {})) if (value !== undefined) headers.set(name, value)
  const isBytes = all.body instanceof Blob
  if (all.body !== undefined && !isBytes) headers.set('content-type', 'application/json')
  const answered = await fetch(addressOf(id, all), {
    method,
    headers,
    credentials: 'omit',
    cache: 'no-store',
    ...(all.body === undefined ? {} : { body: isBytes ? all.body : JSON.stringify(all.body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new Problem(0, 'offline', '')
  })
  const text = await answered.text()
  if (!answered.ok) throw problemOf(answered.status, text)
  return text === '' ? null : JSON.parse(text)
}
