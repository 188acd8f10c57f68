import { roundMs, startsInAnyRound, startsPerRound } from '../../kernel/limits/http.ts'
import type { Scope } from '../../kernel/scope.ts'
import { Rotation } from './rotation.ts'

/** Begins the work of a request. */
type Begin = () => void

/** When the event loop has seen to what came in, as `setImmediate` does. */
type Soon = (work: () => void) => void

/**
 * The order in which requests begin. In one round of the event loop a few begin, or as many as a moment has room for,
 * as they come; what is left waits for the next round and begins there one network after another. So whoever asks again
 * as soon as it is answered, on a hundred connections, stands before others with one request and not with a hundred.
 */
export class Rounds {
  readonly #waiting = new Rotation<Begin>()
  readonly #soon: Soon
  readonly #nowMs: () => number
  /** When the first request of this round began. */
  #roundBeganMs: number | null = null
  /** Requests that began in this round as they came. */
  #begun = 0
  #isPlanned = false

  constructor(soon: Soon = setImmediate, nowMs: () => number = () => performance.now()) {
    this.#soon = soon
    this.#nowMs = nowMs
  }

  /** Requests that have not begun. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Begins it now or soon; never, when its scope ends sooner. */
  enter(network: string | null, scope: Scope, begin: Begin): void {
    if (this.#waiting.size === 0 && this.#hasTime()) {
      begin()
      return
    }
    const whose = network ?? ''
    this.#waiting.add(whose, begin)
    if (!this.#isPlanned) this.#planRound()
    scope.own(() => void this.#waiting.delete(whose, begin))
  }

  #hasTime(): boolean {
    const now = this.#nowMs()
    if (this.#roundBeganMs === null) {
      this.#roundBeganMs = now
      this.#begun = 0
      this.#soon(() => {
        this.#roundBeganMs = null
      })
    }
    this.#begun += 1
    return this.#begun <= startsInAnyRound || now - this.#roundBeganMs < roundMs
  }

  /** Between any two of them all goes on that the first one has made possible: so the time that it takes is seen. */
  #planRound(): void {
    this.#isPlanned = true
    for (let start = 1; start <= startsPerRound; start++) this.#soon(() => this.#startInRound(start))
  }

  #startInRound(start: number): void {
    const now = this.#nowMs()
    if (start === 1) this.#roundBeganMs = now
    if (start <= startsInAnyRound || now - (this.#roundBeganMs ?? now) < roundMs) this.#waiting.take()?.()
    if (start < startsPerRound) return
    this.#roundBeganMs = null
    this.#isPlanned = false
    if (this.#waiting.size > 0) this.#planRound()
  }
}
