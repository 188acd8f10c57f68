import type { Static, TObject, TSchema } from 'typebox'
import type { Caller, LinkCaller } from '../kernel/caller.ts'
import type { Scope } from '../kernel/scope.ts'
import type { AccessRule, BodyKind, BodyOf, Operation, ResponseTable } from './operation.ts'

export interface RequestFacts {
  /** Also in the header `X-Request-Id` and in every problem answer. */
  readonly requestId: string
  readonly clientAddress: string
  /** `https://host` as the client knows us, or `https://host/svc`, without a trailing slash. */
  readonly baseUrl: string
  /** HEAD: the same headers, no body. */
  readonly head: boolean
  /** It came through a trusted proxy that says that it sends files itself. */
  readonly proxySends: boolean
  /** That the caller was let in, as the gate made it: by it a change of authority asks again inside its transaction. */
  readonly admission: object
  /**
   * Owns what is taken for the request beyond the call of its handler, such as a place in a queue or an open file: it
   * ends when the answer is out, or with the connection.
   */
  readonly scope: Scope
  /** Ends the connection at once, in the middle of the answer: what came is known to be incomplete. */
  hangUp(): void
  /**
   * Asks anew whether the caller would be let in, and throws what a fresh request would be told: 401, 403 or 404. For
   * answers that waited, after everything that they tell was read.
   */
  admitAgain(): Promise<unknown>
}

/** A body that is still arriving. */
export interface IncomingBody {
  /** Length that the client declared, or null when it sends in chunks. */
  readonly declaredBytes: number | null
  /** What the client says that it is, as it says it. */
  readonly mediaType: string | undefined
  /**
   * The bytes as they come. Pieces belong to the reader. Ends with a Failure when the client stalls, goes away or
   * takes longer than the upload deadline; only then, and when it was read to the end, is everything known.
   */
  readonly pieces: AsyncIterable<Uint8Array>
  /**
   * So many bytes more of it stay in memory, or fewer, until it is answered. What all bodies keep has a bound: beyond
   * it the largest that still comes is cut, of whoever keeps most.
   */
  keeps(bytes: number): void
}

/**
 * The caller as the handler sees it: present unless anyone may call. A link opens artifacts, which only access by
 * repository can.
 */
type CallerOf<Rule extends AccessRule> = Rule extends { kind: 'anyone' }
  ? Caller | null
  : Rule extends { kind: 'repository' }
    ? Caller
    : Exclude<Caller, LinkCaller>

export interface Input<O extends Operation> {
  readonly path: Static<O['pathParameters']>
  readonly query: Static<O['query']>
  readonly headers: Static<O['headers']>
  readonly body: O['body'] extends { kind: 'stream' } ? IncomingBody : BodyOf<O['body']>
  readonly caller: CallerOf<O['access']>
  /** The rule asks about a second repository, the request names it, and the caller may. */
  readonly mayAlso: boolean
  readonly request: RequestFacts
}

/** Stored bytes, where to fetch them (307), or a refusal to send them (304, 416), made by `content/serve.ts`. */
export interface ByteAnswer {
  readonly status: 200 | 206 | 304 | 307 | 416
  readonly headers: Readonly<Record<string, string>>
  /** Null for HEAD, 304, 307, 416 and what a proxy sends. Closed with the scope of the request. */
  readonly bytes: AsyncIterableIterator<Uint8Array> | null
  /** How many bytes the proxy in front sends instead, if it does. */
  readonly leftToProxy?: number
}

/**
 * A body that is whole in memory, of the media type that `headers` say. Bytes are sent as they are, with what guards a
 * browser.
 */
interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | Uint8Array
}

type JsonAnswer<R extends ResponseTable> = {
  [S in keyof R & number]: {
    readonly status: S
    readonly headers?: Readonly<Record<string, string>>
    readonly json: R[S] extends { schema: infer B extends TSchema } ? Static<B> : null
  }
}[keyof R & number]

export type AnyAnswer =
  | ByteAnswer
  | TextAnswer
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly json: unknown }

export type Answer<O extends Operation> = JsonAnswer<O['responses']> | TextAnswer | ByteAnswer

/** An operation together with the function that does it. */
export interface BoundOperation {
  readonly operation: Operation
  readonly handler: (input: Input<Operation>) => Promise<AnyAnswer>
}

/** Binds a handler to its declaration; the types of input and answer follow from it. */
export const handle = <
  Path extends TObject,
  Query extends TObject,
  Headers extends TObject,
  Body extends BodyKind,
  Responses extends ResponseTable,
  Rule extends AccessRule,
>(
  operation: Operation<Path, Query, Headers, Body, Responses, Rule>,
  handler: (
    input: Input<Operation<Path, Query, Headers, Body, Responses, Rule>>,
  ) => Promise<Answer<Operation<Path, Query, Headers, Body, Responses, Rule>>>,
): BoundOperation => {
  // The pipeline validates every input against the schemas of this very operation before it calls the handler, which is
  // what makes the narrower parameter type true.
  return { operation: operation as unknown as Operation, handler: handler as unknown as BoundOperation['handler'] }
}
