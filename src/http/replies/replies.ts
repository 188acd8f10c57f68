import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyAnswer, ByteAnswer } from '../../contract/handler.ts'
import { wantsHtml } from '../../contract/pages/wants-html.ts'
import { contentGuards } from '../../kernel/content-guards.ts'
import { textAnswerMs, unreadBytesMax } from '../../kernel/limits/http.ts'
import { leavesMuchUnread } from '../body/request-body.ts'
import type { HttpDeps } from '../given.ts'
import { clientFacts } from '../pipeline/client-address.ts'
import { type Exchange, exchangeOf } from '../pipeline/exchange.ts'
import { isByteAnswer } from '../pipeline/pipeline.ts'
import { toFailure } from '../pipeline/thrown.ts'
import { basePathOf } from '../routing/base-path.ts'
import { sendBytes } from './send.ts'
import { Unread } from './unread.ts'

/** A client that does not take its answer in time is cut off, also one that goes on taking a little. */
const endWhenTooSlow = (response: ServerResponse, { scope }: Exchange): void => {
  const timer = setTimeout(() => response.destroy(), textAnswerMs)
  scope.own(() => clearTimeout(timer))
}

export interface Replies {
  /** Sends what a handler answered. */
  answer(request: FastifyRequest, reply: FastifyReply, answer: AnyAnswer): Promise<void>
  /** Sends what was thrown, as a problem. A bug is reported once. */
  problem(request: FastifyRequest, reply: FastifyReply, error: unknown): void
  /** Sends a short text, or bytes, with its headers. */
  text(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    headers: Record<string, string>,
    text: string | Uint8Array,
  ): void
}

type Deps = Pick<HttpDeps, 'metrics' | 'reportBug' | 'translate' | 'settled' | 'trustedProxies' | 'baseUrl'>

/**
 * The one way out: every answer of the service is written here.
 *
 * PROMISE. An answer tells nothing that a power cut could take back: whatever was read of the catalog for it is durable
 * before its first byte leaves. That goes for stored bytes and refusals as well: that a file exists, and that it does
 * not any more, are things to rely on. Where a commit is visible before it is durable (`database/sqlite/group-sync.ts`)
 * an answer waits for the sync that is due, which serves all who wait; when nothing is due, and on other engines, it
 * waits for nothing.
 */
export const createReplies = (deps: Deps, isDraining: () => boolean): Replies => new WayOut(deps, isDraining)

class WayOut implements Replies {
  readonly #deps: Deps
  readonly #isDraining: () => boolean
  readonly #unread = new Unread(unreadBytesMax)
  readonly #basePath: string

  constructor(deps: Deps, isDraining: () => boolean) {
    this.#deps = deps
    this.#isDraining = isDraining
    this.#basePath = basePathOf(deps.baseUrl)
  }

  async answer(request: FastifyRequest, reply: FastifyReply, given: AnyAnswer): Promise<void> {
    if (exchangeOf(request).readsCatalog) await this.#settledFor(given)
    if (isByteAnswer(given)) {
      await this.#bytes(request, reply, given)
      return
    }
    const { headers, body } = textOf(given)
    this.text(request, reply, given.status, this.#located(headers), body)
  }

  problem(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    // At once: whatever else comes of the request meanwhile, this is its answer.
    reply.hijack()
    if (!exchangeOf(request).readsCatalog) {
      this.#tell(request, reply, error)
      return
    }
    this.#deps.settled().then(
      () => this.#tell(request, reply, error),
      (trouble: unknown) => this.#tell(request, reply, trouble),
    )
  }

  text(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    headers: Record<string, string>,
    body: string | Uint8Array,
  ): void {
    const raw = reply.raw
    reply.hijack()
    const exchange = exchangeOf(request)
    if (exchange.scope.over) return
    if (raw.headersSent || raw.destroyed) {
      raw.destroy()
      return
    }
    const bodiless = status === 204 || status === 304
    const unread = leavesMuchUnread(request.raw)
    const all: Record<string, string> = { ...exchange.headers, ...headers }
    if (!bodiless) all['content-length'] ??= String(Buffer.byteLength(body))
    if (unread || this.#isDraining()) all['connection'] = 'close'
    raw.writeHead(status, all)
    if (request.method !== 'HEAD' && !bodiless) exchange.sent = Buffer.byteLength(body)
    this.#answered(request, reply)
    if (unread) {
      // Ending it would close the connection.
      if (request.method === 'HEAD' || bodiless || body.length === 0) raw.flushHeaders()
      else raw.write(body)
      exchange.lingers = true
      exchange.lingerThenClose()
    } else {
      raw.end(bodiless ? undefined : body)
    }
    if (raw.writableLength === 0) return
    endWhenTooSlow(raw, exchange)
    this.#awaitTaking(raw, exchange, Buffer.byteLength(body))
  }

  /** Stored bytes, as they come and as fast as the client takes them. */
  async #bytes(request: FastifyRequest, reply: FastifyReply, given: ByteAnswer): Promise<void> {
    reply.hijack()
    const exchange = exchangeOf(request)
    const headers = { ...exchange.headers, ...this.#located(given.headers) }
    const { bytes, leftToProxy = 0 } = given
    if (leftToProxy > 0) {
      exchange.leftToProxy = leftToProxy
      this.#deps.metrics.leftToProxy(leftToProxy)
    }
    if (bytes === null) {
      reply.raw.writeHead(given.status, headers).end()
    } else {
      const transfer = this.#deps.metrics.begin('out')
      exchange.scope.own(() => transfer.end())
      exchange.scope.own(async () => void (await bytes.return?.()))
      try {
        await sendBytes(reply.raw, exchange.scope, given.status, headers, bytes, (sent) => {
          exchange.sent += sent
          transfer.add(sent)
        })
      } catch (error) {
        // Whoever lets go of an answer hears of nothing that is thrown behind it. With the client went what was read.
        if (!exchange.scope.over) this.problem(request, reply, error)
        return
      }
      const { writableLength } = reply.raw
      if (writableLength > 0) this.#awaitTaking(reply.raw, exchange, writableLength)
    }
    // Also of a client that went away in the middle.
    exchange.scope.own(() => this.#answered(request, reply))
  }

  #tell(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    const exchange = exchangeOf(request)
    const { requestId, wire } = exchange
    const { translate, reportBug, trustedProxies } = this.#deps
    const failure = toFailure(error, translate)
    exchange.failure = failure
    if (failure.code === 'internal') {
      const asked = `${request.method} ${request.routeOptions.config?.template ?? 'unknown'}`
      reportBug(failure.cause ?? failure, { requestId, asked })
    }
    const { baseUrl, clientAddress } = clientFacts(request.raw, trustedProxies, this.#deps.baseUrl)
    exchange.clientAddress ??= clientAddress
    // A HEAD is told what a program is told: nobody sees a body.
    const wantsPage = request.method === 'GET' && wantsHtml(request.headers.accept)
    const rendered = wire.render(failure, { requestId, baseUrl, wantsPage })
    this.text(request, reply, rendered.status, rendered.headers, rendered.text)
  }

  /** Resolves when what was read for an answer is durable. */
  async #settledFor(given: AnyAnswer): Promise<void> {
    try {
      await this.#deps.settled()
    } catch (error) {
      if (isByteAnswer(given)) await given.bytes?.return?.()
      throw error
    }
  }

  /** Handlers speak of paths of the service; clients ask for them below its base path. */
  #located<Headers extends Readonly<Record<string, string>>>(headers: Headers): Headers {
    return this.#basePath !== '' && headers['location']?.startsWith('/') === true
      ? { ...headers, location: this.#basePath + headers['location'] }
      : headers
  }

  /** Of an answer that is whole in memory: for as long as the client has not taken it, it counts. */
  #awaitTaking(raw: ServerResponse, exchange: Exchange, bytes: number): void {
    const taken = this.#unread.hold(exchange.network ?? '', bytes, () => raw.destroy())
    if (exchange.scope.over) {
      // The connection lingers.
      raw.once('close', taken)
    } else {
      exchange.scope.own(taken)
      exchange.awaitTaking()
    }
  }

  #answered(request: FastifyRequest, reply: FastifyReply): void {
    const { startedAtMs } = exchangeOf(request)
    const { template = 'unknown' } = request.routeOptions.config ?? {}
    const seconds = (performance.now() - startedAtMs) / 1000
    this.#deps.metrics.answered(template, request.method, reply.raw.statusCode, seconds)
  }
}

/** What an answer that is whole in memory is written with. */
const textOf = (
  given: Exclude<AnyAnswer, ByteAnswer>,
): { headers: Record<string, string>; body: string | Uint8Array } => {
  const isJson = 'json' in given
  const body = isJson ? (given.json === null ? '' : JSON.stringify(given.json)) : given.text
  const type: Record<string, string> =
    isJson && body !== '' ? { 'content-type': 'application/json; charset=utf-8' } : {}
  const guards = typeof body === 'string' ? {} : contentGuards
  return { headers: { ...guards, 'cache-control': 'no-store', ...type, ...given.headers }, body }
}
