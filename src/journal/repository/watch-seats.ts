import { Failure } from '../../kernel/failure.ts'
import { topicOf } from './journal.ts'

export interface JournalSeatBounds {
  readonly waitingMax: number
  readonly waitingPerCallerMax: number
}

interface Wait {
  readonly beyond: number
  end(changed: boolean | Error): void
}

/** Of somebody who waits for a journal to grow, or is about to. */
export interface JournalSeat {
  readonly repository: string
  readonly caller: string
  /** Something was appended since the last look. */
  heard: boolean
  over: boolean
  wait: Wait | null
}

/** The seats that are taken in one process: of so many, and so many of one caller. */
export class JournalSeats {
  readonly #bounds: JournalSeatBounds
  readonly #seats = new Set<JournalSeat>()
  readonly #byTopic = new Map<string, Set<JournalSeat>>()
  readonly #byCaller = new Map<string, number>()

  constructor(bounds: JournalSeatBounds) {
    this.#bounds = bounds
  }

  get count(): number {
    return this.#seats.size
  }

  /** Those in which somebody waits at this moment. */
  waiting(): JournalSeat[] {
    return [...this.#seats].filter(({ wait }) => wait !== null)
  }

  /** 503 `busy` when all are taken, or all that this caller may have. */
  take(repository: string, caller: string): JournalSeat {
    const { waitingMax, waitingPerCallerMax } = this.#bounds
    const own = this.#byCaller.get(caller) ?? 0
    if (this.#seats.size >= waitingMax) throw tooMany(`${waitingMax} requests wait for changes`)
    if (own >= waitingPerCallerMax) throw tooMany(`${waitingPerCallerMax} requests of yours wait for changes`)
    const seat: JournalSeat = { repository, caller, heard: false, over: false, wait: null }
    const topic = topicOf(repository)
    this.#seats.add(seat)
    this.#byCaller.set(caller, own + 1)
    this.#byTopic.set(topic, (this.#byTopic.get(topic) ?? new Set()).add(seat))
    return seat
  }

  /** Ends the wait in it, if there is one. Nothing happens when it was given back before. */
  giveBack(seat: JournalSeat): void {
    if (!this.#seats.delete(seat)) return
    seat.over = true
    const topic = topicOf(seat.repository)
    const neighbours = this.#byTopic.get(topic)
    neighbours?.delete(seat)
    if (neighbours?.size === 0) this.#byTopic.delete(topic)
    const left = (this.#byCaller.get(seat.caller) ?? 1) - 1
    if (left === 0) this.#byCaller.delete(seat.caller)
    else this.#byCaller.set(seat.caller, left)
    seat.wait?.end(false)
  }

  /** Something was appended to the journal of this topic. */
  tell(topic: string): void {
    for (const seat of this.#byTopic.get(topic) ?? []) {
      seat.heard = true
      seat.wait?.end(true)
    }
  }
}

const tooMany = (what: string): Failure =>
  new Failure('busy', `${what} already; ask again without wait, or in a moment.`, { retryAfterSeconds: 5 })
