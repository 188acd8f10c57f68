import { transferPaceLookMs, transferPaceMin } from './limits/downloads.ts'
import type { Timers } from './timers.ts'

/** A seat that a client holds while its bytes move, of which there are only so many. */
export interface HeldSeat {
  readonly caller: string
  /** How fast it goes; null while it is too soon to tell, or it is not the client who is waited for. */
  readonly bytesPerMs: number | null
  /** Ends what goes on in it. */
  cutOff(): void
}

/**
 * The seats that are taken, and how fast their clients go. While somebody waits who could have a seat, the slowest of
 * those that go slower than the least are cut off, as many as are waited for by others. As long as nobody waits, anyone
 * may be as slow as they like.
 */
export class SlowClients<P extends HeldSeat> {
  readonly #timers: Timers
  readonly #cut: (bytesPerSecond: number) => void
  readonly #seats = new Set<P>()
  #looksAgain = false

  /** `cut` is told of each that is cut off, and how fast it went. */
  constructor(timers: Timers, cut: (bytesPerSecond: number) => void) {
    this.#timers = timers
    this.#cut = cut
  }

  /** Answers the seat. */
  add(seat: P): P {
    this.#seats.add(seat)
    return seat
  }

  delete(seat: P): void {
    this.#seats.delete(seat)
  }

  /** Looks now, and again as long as somebody waits; `waiting` tells who, and for how many seats. */
  watch(waiting: () => ReadonlyMap<string, number>): void {
    if (this.#looksAgain) return
    const wanted = waiting()
    if (wanted.size === 0) return
    this.#looksAgain = true
    this.#timers.after(transferPaceLookMs, () => {
      this.#looksAgain = false
      this.watch(waiting)
    })
    this.#cutFor(wanted)
  }

  #cutFor(wanted: ReadonlyMap<string, number>): void {
    const all = [...wanted.values()].reduce((sum, count) => sum + count, 0)
    const slow = [...this.#seats].flatMap((seat) => {
      const pace = seat.bytesPerMs
      return pace !== null && pace < transferPaceMin ? [{ seat, pace }] : []
    })
    let cut = 0
    for (const { seat, pace } of slow.sort((one, other) => one.pace - other.pace)) {
      // Nobody makes room for themselves by being slow.
      if (all - (wanted.get(seat.caller) ?? 0) <= cut) continue
      cut += 1
      this.#cut(Math.round(pace * 1000))
      seat.cutOff()
    }
  }
}
