import { transferPaceLookMs, transferPaceMin } from './limits/downloads.ts'
import type { Timers } from './timers.ts'

/** A place that a client holds while its bytes move, of which there are only so many. */
export interface HeldPlace {
  readonly caller: string
  /** How fast it goes; null while it is too soon to tell, or it is not the client who is waited for. */
  readonly bytesPerMs: number | null
  /** Ends what goes on in it. */
  cutOff(): void
}

/**
 * The places that are taken, and how fast their clients go. While somebody waits who could have a place, the slowest of
 * those that go slower than the least are cut off, as many as are waited for by others. As long as nobody waits, anyone
 * may be as slow as they like.
 */
export class SlowClients<P extends HeldPlace> {
  readonly #timers: Timers
  readonly #cut: (bytesPerSecond: number) => void
  readonly #places = new Set<P>()
  #looksAgain = false

  /** `cut` is told of each that is cut off, and how fast it went. */
  constructor(timers: Timers, cut: (bytesPerSecond: number) => void) {
    this.#timers = timers
    this.#cut = cut
  }

  /** Answers the place. */
  add(place: P): P {
    this.#places.add(place)
    return place
  }

  delete(place: P): void {
    this.#places.delete(place)
  }

  /** Looks now, and again as long as somebody waits; `waiting` tells who, and for how many places. */
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
    const slow = [...this.#places].flatMap((place) => {
      const pace = place.bytesPerMs
      return pace !== null && pace < transferPaceMin ? [{ place, pace }] : []
    })
    let cut = 0
    for (const { place, pace } of slow.sort((one, other) => one.pace - other.pace)) {
      // Nobody makes room for themselves by being slow.
      if (all - (wanted.get(place.caller) ?? 0) <= cut) continue
      cut += 1
      this.#cut(Math.round(pace * 1000))
      place.cutOff()
    }
  }
}
