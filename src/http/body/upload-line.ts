import { Failure } from '../../kernel/failure.ts'
import { transferPaceMin } from '../../kernel/limits/downloads.ts'
import {
  uploadBodiesAtOnce,
  uploadBodiesPerCaller,
  uploadBodiesWaitingMax,
  uploadBodyWaitMs,
} from '../../kernel/limits/transfers.ts'
import { Pace } from '../../kernel/pace.ts'
import type { Scope } from '../../kernel/scope.ts'
import { type HeldSeat, SlowClients } from '../../kernel/slow-clients.ts'
import type { Timers } from '../../kernel/timers.ts'

/**
 * The line in which bodies of files wait to be received: each takes memory, a seat in the hashing ring and a disk.
 * Whoever has the fewest under way is next, so that one who sends hundreds does not keep the others waiting; one caller
 * alone never has all seats, nor all of the line. While others wait, the slowest are cut off ({@link SlowClients}), so
 * that nobody keeps a seat by sending a byte now and then.
 */
export interface UploadLine {
  /**
   * Resolves at the caller's turn; the seat is given back with the scope. 503 `busy` when the line is full, or the
   * turn does not come in time, 400 when the scope ends meanwhile. `cut` is called with what to answer when the seat
   * is taken away.
   */
  enter(scope: Scope, caller: string, cut: (failure: Failure) => void): Promise<ReceivingSeat>
}

interface Waiting {
  readonly caller: string
  begin(): void
  giveUp(failure: Failure): void
}

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

const busy = (why: string): Failure =>
  new Failure('busy', `${why} Send the file again in a moment.`, { retryAfterSeconds: 5 })

const lineIsFull = (): Failure => busy('Many files are being received, and the line is long.')

const noneCameFree = (): Failure =>
  busy(`Many files are being received, and no place came free in ${uploadBodyWaitMs / 1000} seconds.`)

const tooSlow = (): Failure => {
  const least = `${(transferPaceMin * 1000) / 1024} KiB`
  return busy(`Others wait to send, and this file came at less than ${least} a second.`)
}

/** `cut` is told of each body that is cut off, and how fast it came. */
export const createUploadLine = (timers: Timers, cut: (bytesPerSecond: number) => void): UploadLine => {
  const slow = new SlowClients<ReceivingSeat>(timers, cut)
  const underWay = new Map<string, number>()
  const waiting = new Set<Waiting>()
  let all = 0
  const of = (caller: string): number => underWay.get(caller) ?? 0

  const take = (scope: Scope, caller: string, cut: (failure: Failure) => void): ReceivingSeat => {
    all += 1
    underWay.set(caller, of(caller) + 1)
    const seat = slow.add(new ReceivingSeat(caller, timers, () => cut(tooSlow())))
    scope.own(() => {
      slow.delete(seat)
      all -= 1
      const left = of(caller) - 1
      if (left > 0) underWay.set(caller, left)
      else underWay.delete(caller)
      admit()
    })
    return seat
  }

  /** Who waits and could have a seat, and how many. */
  const hungry = (): ReadonlyMap<string, number> => {
    const wanted = new Map<string, number>()
    for (const { caller } of waiting) {
      const count = (wanted.get(caller) ?? 0) + 1
      if (of(caller) + count <= uploadBodiesPerCaller) wanted.set(caller, count)
    }
    return wanted
  }

  /** The last of whoever waits most often gives up, if that is more often than the caller would. */
  const makeRoom = (caller: string): void => {
    const counts = new Map<string, number>()
    for (const one of waiting) counts.set(one.caller, (counts.get(one.caller) ?? 0) + 1)
    const most = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one))
    if (most[1] <= (counts.get(caller) ?? 0) + 1) throw lineIsFull()
    ;[...waiting].findLast((one) => one.caller === most[0])?.giveUp(lineIsFull())
  }

  const next = (): Waiting | null => {
    let best: Waiting | null = null
    for (const one of waiting)
      if (of(one.caller) < uploadBodiesPerCaller && (best === null || of(one.caller) < of(best.caller))) best = one
    return best
  }

  const admit = (): void => {
    while (all < uploadBodiesAtOnce) {
      const one = next()
      if (one === null) return
      waiting.delete(one)
      one.begin()
    }
  }

  const wait = (scope: Scope, caller: string, cut: (failure: Failure) => void): Promise<ReceivingSeat> =>
    new Promise((resolve, reject) => {
      const one: Waiting = {
        caller,
        begin() {
          resolve(take(scope, caller, cut))
          leave()
        },
        giveUp(failure) {
          reject(failure)
          leave()
        },
      }
      const cancelTimer = timers.after(uploadBodyWaitMs, () => one.giveUp(noneCameFree()))
      const leave = scope.own(() => {
        cancelTimer()
        waiting.delete(one)
        // Of what was settled before, nobody hears.
        reject(new Failure('invalid_request', 'The connection was closed while the file waited to be received.'))
      })
      if (!scope.over) waiting.add(one)
    })

  return {
    async enter(scope, caller, cut) {
      if (all < uploadBodiesAtOnce && of(caller) < uploadBodiesPerCaller) return take(scope, caller, cut)
      if (waiting.size >= uploadBodiesWaitingMax) makeRoom(caller)
      const seat = wait(scope, caller, cut)
      slow.watch(hungry)
      return seat
    },
  }
}
