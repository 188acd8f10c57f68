import type { OutboundFailure } from '../../ports/outbound-http.ts'
import { type Attempt, failed } from './failures.ts'

/** Ends a request when its time is over, which holds until its answer begins, or when whoever asked gives up. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #given: AbortSignal | undefined
  readonly #ms: number
  readonly #timer: NodeJS.Timeout
  readonly #stop = (): void => this.#controller.abort()

  constructor(ms: number, given: AbortSignal | undefined) {
    this.#ms = ms
    this.#given = given
    this.#timer = setTimeout(this.#stop, ms)
    if (given?.aborted === true) this.#stop()
    given?.addEventListener('abort', this.#stop, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** From now on it takes as long as it likes. */
  lift(): void {
    clearTimeout(this.#timer)
  }

  /** What to throw once the signal has spoken: the reason of whoever gave up, or a timeout. */
  reached(attempt: Attempt, what: string): OutboundFailure | unknown {
    return this.#given?.aborted === true
      ? this.#given.reason
      : failed(attempt, 'timeout', `${what} within ${this.#ms} ms`)
  }

  /** It no longer listens to whoever asked. */
  end(): void {
    clearTimeout(this.#timer)
    this.#given?.removeEventListener('abort', this.#stop)
  }
}
