import type { IncomingMessage, ServerResponse } from 'node:http'
import { linkCredential } from '../../contract/credential.ts'
import type { AnyAnswer, BoundOperation, ByteAnswer, Input } from '../../contract/handler.ts'
import {
  changes,
  neededPass,
  needsNothing,
  type Operation,
  type SecondRepository,
  secondOf,
} from '../../contract/operation.ts'
import type { Wire } from '../../contract/wire.ts'
import { actorOf, type Caller, readsOnly } from '../../kernel/caller.ts'
import { Failure } from '../../kernel/failure.ts'
import { networkOf } from '../../kernel/networks.ts'
import { isSent, type Receiving, sentBody } from '../body/sent-files.ts'
import type { Gate, Params } from './gate.ts'
import { type LowerCase, lowerCaseIds } from './lower-case.ts'
import { decodeQuery } from './query.ts'
import { maySecond } from './second-repository.ts'
import { compileValidator, type Validator } from './validation.ts'

/** What the first line of a request says beyond its operation. */
export interface Asked {
  readonly params: Params
  readonly queryText: string
}

/** What is known of a request before its body is read. */
export interface Arrival {
  readonly caller: Caller | null
  readonly asked: Asked
  readonly requestId: string
  readonly clientAddress: string
  readonly baseUrl: string
  readonly proxySends: boolean
  /** Made by the gate. */
  readonly admission: object
  /**
   * The caller as a fresh request of the same credential would find it by now, or the refusal that it would be told.
   * Costs nothing of the caller's budget.
   */
  readonly admitAgain: () => Promise<Caller | null>
}

/** Where a request may carry a credential. */
export interface Sent {
  readonly authorization: string | undefined
  readonly queryText: string
  /** Where it was sent. */
  readonly wire: Wire
  /** True where the request was let in before. */
  readonly again: boolean
}

export interface Checked {
  readonly path: Validator
  readonly query: Validator
  readonly headers: Validator
  readonly body: Validator | null
  readonly headerNames: readonly string[]
  readonly lowerQuery: LowerCase | null
  readonly lowerBody: LowerCase | null
  /** What an absent body stands for: an object without fields, where none is needed. */
  readonly absentBody: object | undefined
  /** The other repository that the access rule asks about, where there may be one. */
  readonly second: SecondRepository | null
}

/** Compiles the validators of an operation, once. */
export const compileOperation = (operation: Operation): Checked => ({
  path: compileValidator(operation.pathParameters, 'path'),
  query: compileValidator(operation.query, 'query'),
  headers: compileValidator(operation.headers, 'headers'),
  body: operation.body.kind === 'json' ? compileValidator(operation.body.schema, 'body') : null,
  headerNames: Object.keys(operation.headers.properties),
  lowerQuery: lowerCaseIds(operation.query),
  lowerBody: operation.body.kind === 'json' ? lowerCaseIds(operation.body.schema) : null,
  absentBody: needsNothing(operation) ? {} : undefined,
  second: secondOf(operation.access),
})

/**
 * Authenticate (401), take the request from the budget of who it turned out to be (429), refuse changes by read tokens
 * (403), then authorize (401, 403, 404). Nothing of the body has been read yet. `spend` gets null for nobody we know:
 * whoever tries credentials pays for it, too.
 */
export const admit = async (
  gate: Gate,
  operation: Operation,
  sent: Sent,
  params: Params,
  spend: (caller: Caller | null) => void,
): Promise<Caller | null> => {
  const caller = operation.access.kind === 'anyone' ? null : await callerOf(gate, operation, sent, params, spend)
  spend(caller)
  if (caller !== null && readsOnly(caller) && changes(operation))
    throw new Failure('read_only_token', 'This token can only read; create one with the scope read-write.')
  await gate.authorize(caller, operation.access, params)
  return caller
}

/** The header wins: whatever stands in it, a link beside it is not looked at. */
const callerOf = async (
  gate: Gate,
  operation: Operation,
  sent: Sent,
  params: Params,
  spend: (caller: null) => void,
): Promise<Caller | null> => {
  try {
    const { wire, again } = sent
    const credential = wire.credentialOf(sent.authorization)
    if (credential !== null)
      return await gate.authenticate(credential, {
        wire: wire.name,
        passFor: neededPass(operation, params),
        again,
      })
    const token = operation.linkable ? linkCredential(sent.queryText) : null
    return token === null ? null : await gate.authenticateLink(token, params)
  } catch (error) {
    spend(null)
    throw error
  }
}

const pickHeaders = (names: readonly string[], request: IncomingMessage): Record<string, string> => {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = request.headers[name]
    if (typeof value === 'string') picked[name] = value
  }
  return picked
}

/**
 * Validate (400, 415), then call the handler. However long a body takes to come, nothing is done with it for whom a
 * request that begins now would be refused: that is asked again when it is whole (401, 403, 404), for JSON before it is
 * looked at and for a stream before it ends for its reader.
 */
export const perform = async (
  bound: BoundOperation,
  checked: Checked,
  arrival: Arrival,
  request: IncomingMessage,
  response: ServerResponse,
  given: Given,
): Promise<AnyAnswer> => {
  const { operation } = bound
  const { params, queryText } = arrival.asked
  let caller = checked.body === null ? arrival.caller : await arrival.admitAgain()
  checked.path(params)
  const query = checkedQuery(operation, checked, queryText)
  const headers = pickHeaders(checked.headerNames, request)
  checked.headers(headers)
  const json = checkedJson(checked, given.body)
  const maySecondNow = async (): Promise<boolean> =>
    checked.second !== null && (await maySecond(given.gate, caller, checked.second, { query, headers, body: json }))
  let mayAlso = await maySecondNow()
  const body = isSent(operation.body)
    ? await sentBody(operation.body, checked.headerNames, request, response, {
        ...given,
        sender: arrival.caller === null ? networkOf(arrival.clientAddress) : actorOf(arrival.caller),
        whenWhole: async () => {
          caller = await arrival.admitAgain()
          mayAlso = await maySecondNow()
        },
      })
    : json
  const input: Record<keyof Input<Operation>, unknown> = {
    path: params,
    query,
    headers,
    body,
    caller,
    mayAlso,
    request: {
      ...arrival,
      caller,
      head: request.method === 'HEAD',
      scope: given.scope,
      hangUp: () => response.destroy(),
    },
  }
  // Validated against this operation's own schemas just above.
  return bound.handler(input as Input<Operation>)
}

/** What a request brings beside its head, and what receiving its body takes. */
interface Given extends Omit<Receiving, 'sender' | 'whenWhole'> {
  readonly gate: Gate
  /** A JSON body as it was read. */
  readonly body: unknown
}

const checkedQuery = (operation: Operation, checked: Checked, text: string): object => {
  const query = decodeQuery(text, operation.query)
  checked.lowerQuery?.(query)
  checked.query(query)
  return query
}

const checkedJson = (checked: Checked, sent: unknown): unknown => {
  const body = sent === undefined ? checked.absentBody : sent
  if (checked.body === null) return body
  if (body === undefined)
    throw new Failure('invalid_request', 'A JSON body is needed (Content-Type: application/json).', {
      details: [{ pointer: '', message: 'is required' }],
    })
  checked.lowerBody?.(body)
  checked.body(body)
  return body
}

export const isByteAnswer = (answer: AnyAnswer): answer is ByteAnswer => 'bytes' in answer
