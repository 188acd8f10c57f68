import { Pace } from '../../kernel/pace.ts'
import type { HeldSeat } from '../../kernel/slow-clients.ts'
import type { Timers } from '../../kernel/timers.ts'

/**
 * One slot, and the requests that send by it. What a client has when it is cut off is good: it may ask for the rest.
 */
export class SendingSlot implements HeldSeat {
  readonly caller: string
  readonly #timers: Timers
  readonly #pace: Pace
  readonly #requests = new Set<() => void>()

  constructor(caller: string, timers: Timers) {
    this.caller = caller
    this.#timers = timers
    this.#pace = new Pace(timers.now())
  }

  get bytesPerMs(): number | null {
    return this.#requests.size === 0 ? null : this.#pace.bytesPerMs(this.#timers.now())
  }

  begin(hangUp: () => void): void {
    this.#requests.add(hangUp)
  }

  sent(bytes: number): void {
    this.#pace.moved(bytes, this.#timers.now())
  }

  finish(hangUp: () => void): void {
    this.#requests.delete(hangUp)
  }

  cutOff(): void {
    for (const hangUp of [...this.#requests]) hangUp()
  }
}
