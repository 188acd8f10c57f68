import { Pace } from '../../kernel/pace.ts'
import type { HeldSeat } from '../../kernel/slow-clients.ts'
import type { Timers } from '../../kernel/timers.ts'

/**
 * The seat of a body that is received. Its time runs only while the client is waited for: no disk of ours makes it
 * slow.
 */
export class ReceivingSeat implements HeldSeat {
  readonly caller: string
  readonly cutOff: () => void
  readonly #timers: Timers
  readonly #pace = new Pace(0)
  #awaitedMs = 0
  #awaitedSince: number | null = null

  constructor(caller: string, timers: Timers, cut: () => void) {
    this.caller = caller
    this.#timers = timers
    this.cutOff = cut
  }

  get bytesPerMs(): number | null {
    return this.#awaitedSince === null ? null : this.#pace.bytesPerMs(this.#clientMs)
  }

  /** From now on the client is waited for. */
  awaits(): void {
    this.#awaitedSince ??= this.#timers.now()
  }

  /** It is not, any more. */
  goesOn(): void {
    this.#awaitedMs = this.#clientMs
    this.#awaitedSince = null
  }

  received(bytes: number): void {
    this.#pace.moved(bytes, this.#clientMs)
  }

  get #clientMs(): number {
    return this.#awaitedMs + (this.#awaitedSince === null ? 0 : this.#timers.now() - this.#awaitedSince)
  }
}
