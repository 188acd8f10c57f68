import { downloadPaceLookMs, downloadPaceMin } from '../../kernel/limits.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { DownloadMeter } from './meter.ts'
import { Pace } from './pace.ts'

/**
 * The slots that are in use, and how fast their clients take what is sent. While somebody waits who could have a slot, the
 * slowest of those that take less than the least are cut off, as many as are waited for by others: what they have is good, and
 * they may ask for the rest. As long as nobody waits, anyone may be as slow as they like.
 */
export class SendingSlots {
  readonly #timers: Timers
  readonly #meter: DownloadMeter
  readonly #slots = new Set<SendingSlot>()
  #looksAgain = false

  constructor(timers: Timers, meter: DownloadMeter) {
    this.#timers = timers
    this.#meter = meter
  }

  open(caller: string): SendingSlot {
    const slot = new SendingSlot(caller, this.#timers, () => this.#slots.delete(slot))
    this.#slots.add(slot)
    return slot
  }

  /** Looks now, and again as long as somebody waits; `waiting` tells who, and for how many slots. */
  watch(waiting: () => ReadonlyMap<string, number>): void {
    if (this.#looksAgain) return
    const wanted = waiting()
    if (wanted.size === 0) return
    this.#looksAgain = true
    this.#timers.after(downloadPaceLookMs, () => {
      this.#looksAgain = false
      this.watch(waiting)
    })
    this.#cutFor(wanted)
  }

  #cutFor(wanted: ReadonlyMap<string, number>): void {
    const all = [...wanted.values()].reduce((sum, count) => sum + count, 0)
    const slow = [...this.#slots].flatMap((slot) => {
      const pace = slot.bytesPerMs
      return pace !== null && pace < downloadPaceMin ? [{ slot, pace }] : []
    })
    let cut = 0
    for (const { slot, pace } of slow.sort((one, other) => one.pace - other.pace)) {
      // Nobody makes room for themselves by being slow.
      if (all - (wanted.get(slot.caller) ?? 0) <= cut) continue
      cut += 1
      this.#meter.cut += 1
      this.#meter.tooSlow(Math.round(pace * 1000))
      slot.hangUp()
    }
  }
}

/** One slot, and the requests that send by it. */
export class SendingSlot {
  readonly caller: string
  readonly #timers: Timers
  readonly #pace: Pace
  readonly #requests = new Set<() => void>()
  readonly end: () => void

  constructor(caller: string, timers: Timers, end: () => void) {
    this.caller = caller
    this.#timers = timers
    this.#pace = new Pace(timers.now())
    this.end = end
  }

  /** Null while it is too soon to tell, or nothing is being sent. */
  get bytesPerMs(): number | null {
    return this.#requests.size === 0 ? null : this.#pace.bytesPerMs(this.#timers.now())
  }

  begin(hangUp: () => void): void {
    this.#requests.add(hangUp)
  }

  sent(bytes: number): void {
    this.#pace.sent(bytes, this.#timers.now())
  }

  finish(hangUp: () => void): void {
    this.#requests.delete(hangUp)
  }

  hangUp(): void {
    for (const hangUp of [...this.#requests]) hangUp()
  }
}
