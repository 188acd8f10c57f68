import { setImmediate as nextRound } from 'node:timers/promises'
import { workedAtOnceMs } from '../../../kernel/limits/process.ts'

/**
 * Others have their turn on the event loop while thousands of things are worked on of which none waits for anything.
 * By the time that it took, since nobody knows how much work one of them is.
 */
export class Rounds {
  readonly #now: () => number
  #beganAtMs: number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#beganAtMs = now()
  }

  /** To be called before each of them; null, which need not be waited for, while nobody was kept waiting for long. */
  next(): Promise<void> | null {
    return this.#now() - this.#beganAtMs < workedAtOnceMs ? null : this.#others()
  }

  async #others(): Promise<void> {
    await nextRound()
    this.#beganAtMs = this.#now()
  }
}
