import type { Duplex } from 'node:stream'
import type { OutboundLine, PostRequest } from '../../../ports/outbound-http.ts'
import { leadsTo } from '../addresses.ts'
import type { Target } from '../connecting.ts'
import { failed, translate } from '../failures.ts'
import { AnswerWrong, Wire } from './wire.ts'

export interface LineOptions {
  readonly url: URL
  readonly userAgent: string
  /** Where a connection is to lead; throws where none may. */
  readonly targetOf: (url: URL) => Target
  /** Opens a connection to what was looked at. */
  readonly connect: (target: Target) => Promise<Duplex>
  readonly forbidden: () => boolean
}

interface Standing {
  readonly target: Target
  readonly wire: Wire
}

/**
 * A line: a connection that is kept, and opened anew where it has to be. It speaks as much HTTP as posting a small body
 * and hearing a status needs, for a fifth of what a client for everything costs.
 */
export const openLine = ({ url, userAgent, targetOf, connect, forbidden }: LineOptions): OutboundLine => {
  const origin = `host: ${url.host}\r\nuser-agent: ${userAgent}\r\naccept-encoding: identity\r\n`
  let standing: Standing | null = null
  let isBusy = false

  const postOnce = async (request: PostRequest, ending: Ending): Promise<number> => {
    if (standing !== null) await ending.during(standing.wire, standing.wire.settled())
    for (;;) {
      if (standing === null || standing.wire.isOver) standing = await opened(ending)
      const { wire, target } = standing
      ending.what = 'no answer'
      ending.target = target
      const bytes = bytesOf(request, target)
      try {
        const head = await ending.during(wire, wire.ask(bytes))
        leadsTo({ statusCode: head.status, headers: { location: head.location } }, target, 0)
        return head.status
      } catch (error) {
        if (ending.isOver) throw error
        if (error instanceof AnswerWrong) throw failed(target.attempt, 'answer', error.message)
        // It was closed at the other end while nobody looked.
        if (!wire.wasKept) throw translate(error, target.attempt)
      }
    }
  }

  const opened = async (ending: Ending): Promise<Standing> => {
    ending.throwIfOver()
    const target = targetOf(url)
    ending.target = target
    ending.what = 'no connection'
    const connecting = connect(target)
    try {
      return { target, wire: new Wire(await ending.before(connecting)) }
    } catch (error) {
      // It may stand all the same when nobody waits for it any more.
      connecting.then(
        (connection) => connection.destroy(),
        () => undefined,
      )
      throw ending.isOver ? error : translate(error, target.attempt)
    }
  }

  const bytesOf = ({ headers, body }: PostRequest, { proxy }: Target): Uint8Array => {
    const isPlainProxied = proxy !== null && url.protocol === 'http:'
    let head = `POST ${isPlainProxied ? url.href : `${url.pathname}${url.search}`} HTTP/1.1\r\n${origin}`
    for (const name in headers) head += headerLine(name, headers[name] ?? '')
    if (isPlainProxied && proxy.authorization !== null) head += headerLine('proxy-authorization', proxy.authorization)
    return Buffer.concat([Buffer.from(`${head}content-length: ${body.byteLength}\r\n\r\n`, 'latin1'), body])
  }

  return {
    async post(request) {
      if (forbidden()) throw new Error('an address was asked inside a database transaction (I5)')
      if (isBusy) throw new Error('a line takes one request at a time')
      request.signal?.throwIfAborted()
      const ending = new Ending(request, standing?.target ?? targetOf(url))
      isBusy = true
      try {
        return await postOnce(request, ending)
      } finally {
        ending.end()
        isBusy = false
      }
    },
    close() {
      standing?.wire.destroy()
      standing = null
    },
  }
}

/** What is in a header cannot end it. */
const headerLine = (name: string, value: string): string => {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new Error(`the header ${name} has what no header may have`)
  return `${name}: ${value}\r\n`
}

/** Ends a request when its time is over, or when whoever asked gives up. */
class Ending {
  readonly #request: PostRequest
  readonly #timer: NodeJS.Timeout
  readonly #abort = (): void => this.#over(this.#request.signal?.reason)
  #giveUp: ((reason: unknown) => void) | null = null
  target: Target
  what = 'no connection'
  isOver = false
  #reason: unknown

  constructor(request: PostRequest, target: Target) {
    this.#request = request
    this.target = target
    const { answerMs, signal } = request
    this.#timer = setTimeout(
      () => this.#over(failed(this.target.attempt, 'timeout', `${this.what} within ${answerMs} ms`)),
      answerMs,
    )
    signal?.addEventListener('abort', this.#abort, { once: true })
  }

  /** Of something that is destroyed when it is over; it then rejects by that. */
  async during<T>(wire: Wire, work: Promise<T>): Promise<T> {
    this.#giveUp = (reason) => wire.destroy(reason)
    return this.#waited(work)
  }

  /** Of something that cannot be ended: nobody waits for it then. */
  async before<T>(work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    this.#giveUp = reject
    return this.#waited(Promise.race([work, promise]))
  }

  throwIfOver(): void {
    if (this.isOver) throw this.#reason
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.#abort)
  }

  async #waited<T>(work: Promise<T>): Promise<T> {
    try {
      if (this.isOver) this.#giveUp?.(this.#reason)
      return await work
    } finally {
      this.#giveUp = null
    }
  }

  #over(reason: unknown): void {
    this.isOver = true
    this.#reason = reason
    this.#giveUp?.(reason)
  }
}
