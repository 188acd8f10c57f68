import type { Dispatcher } from 'undici'
import { outboundEarlyAnswersMax, outboundLeftBytesMax, outboundLeftMs } from '../../../kernel/limits/outbound.ts'
import type { Leading } from '../addresses.ts'
import { AnswerWrong, type Kept, notHttp } from './connection.ts'

/** As much of an answer as a line needs. */
interface AnswerHead extends Leading {
  readonly statusCode: number
}

/**
 * What a request of a line is answered. What follows the head is taken as far as a little, so that the connection can
 * be used again; an answer that goes on beyond that is cut off, and so is its connection.
 */
export class Answer implements Dispatcher.DispatchHandler {
  readonly #current: () => Kept | null
  readonly #head = Promise.withResolvers<AnswerHead>()
  #over: Kept | null = null
  #early = 0
  #left = 0
  #late: NodeJS.Timeout | undefined

  /** `current`: the connection over which is sent what is being sent. */
  constructor(current: () => Kept | null) {
    this.#current = current
  }

  get head(): Promise<AnswerHead> {
    return this.#head.promise
  }

  /** The connection over which it was sent, once it was. */
  get over(): Kept | null {
    return this.#over
  }

  /** It was sent over a connection that had answered before and said nothing now. */
  get wasKept(): boolean {
    return this.#over !== null && this.#over.answers > 0 && !this.#over.isHeard
  }

  onRequestStart(): void {
    this.#over = this.#current()
    if (this.#over !== null) this.#over.isHeard = false
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (statusCode < 100 || statusCode === 101) controller.abort(new AnswerWrong(notHttp))
    else if (statusCode < 200) this.#hearEarly(controller)
    else {
      const { location, 'content-length': length } = headers
      if (this.#over !== null) this.#over.answers += 1
      this.#head.resolve({ statusCode, headers: { location: typeof location === 'string' ? location : location?.[0] } })
      if (Number(length) > outboundLeftBytesMax) controller.abort(enough())
      else this.#late = setTimeout(() => controller.abort(enough()), outboundLeftMs)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Uint8Array): void {
    this.#left += piece.byteLength
    if (this.#left > outboundLeftBytesMax) controller.abort(enough())
  }

  onResponseEnd(): void {
    clearTimeout(this.#late)
  }

  onResponseError(_controller: unknown, error: Error): void {
    clearTimeout(this.#late)
    this.#head.reject(error)
  }

  #hearEarly(controller: Dispatcher.DispatchController): void {
    this.#early += 1
    if (this.#early > outboundEarlyAnswersMax) controller.abort(new AnswerWrong('it says too much before its answer'))
  }
}

const enough = (): Error => new Error('more follows the head than anybody wants to know')
