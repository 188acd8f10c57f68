import { writersWaitingMax } from '../../kernel/limits/engines.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

/** Transactions that only run SQL never let the event loop turn; after this long they are made to. */
const sliceMs = 4

interface Waiting {
  readonly resolve: () => void
  next: Waiting | undefined
}

/** Whose turn it is at the one writer: first come, first served, at most `writersWaitingMax` waiting. */
export class WriterQueue {
  #taken = false
  #first: Waiting | undefined
  #last: Waiting | undefined
  #length = 0
  /** When the event loop last turned, as far as this queue knows; 0 when it does not watch. */
  #sliceBegan = 0

  /** Resolves when it is the caller's turn. Each turn ends with `leave`. */
  enter(): Promise<void> {
    if (!this.#taken) {
      this.#taken = true
      return Promise.resolve()
    }
    if (this.#length >= writersWaitingMax) {
      return Promise.reject(new DatabaseUnavailable(`${this.#length} transactions are waiting already.`))
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting: Waiting = { resolve, next: undefined }
    if (this.#last === undefined) this.#first = waiting
    else this.#last.next = waiting
    this.#last = waiting
    this.#length++
    return promise
  }

  /**
   * Resolves when the running turn is over, before all who wait: for what may not wait behind a crowd, one at a time.
   */
  enterNext(): Promise<void> {
    if (!this.#taken) return this.enter()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#first = { resolve, next: this.#first }
    this.#last ??= this.#first
    this.#length++
    return promise
  }

  /** Whether somebody's turn follows before the event loop turns. */
  get goesOn(): boolean {
    return this.#first !== undefined && !this.#sliceIsOver()
  }

  leave(): void {
    if (this.#first === undefined) {
      this.#taken = false
    } else if (this.#sliceIsOver()) {
      setImmediate(() => this.#passOn())
    } else {
      this.#passOn()
    }
  }

  #passOn(): void {
    const next = this.#first
    if (next === undefined) return
    this.#first = next.next
    if (this.#first === undefined) this.#last = undefined
    this.#length--
    next.resolve()
  }

  #sliceIsOver(): boolean {
    const now = performance.now()
    if (this.#sliceBegan === 0) {
      this.#sliceBegan = now
      setImmediate(() => {
        this.#sliceBegan = 0
      })
    }
    return now - this.#sliceBegan > sliceMs
  }
}
