import { Failure } from '../../kernel/failure.ts'
import { transferPaceMin } from '../../kernel/limits/downloads.ts'
import { uploadBodiesAtOnce, uploadBodiesWaitingMax, uploadBodyWaitMs } from '../../kernel/limits/transfers.ts'
import type { Scope } from '../../kernel/scope.ts'
import { SlowClients } from '../../kernel/slow-clients.ts'
import type { Timers } from '../../kernel/timers.ts'
import { ReceivingSeat } from './receiving-seat.ts'
import { WaitingBodies, type WaitingBody } from './waiting-bodies.ts'

/**
 * The line in which bodies of files wait to be received: each takes memory, a seat in the hashing ring and a disk.
 * Whoever has the fewest under way is next, so that one who sends hundreds does not keep the others waiting. Nobody
 * takes a seat who has as many as are free: one caller alone has half of them, the next half of what is left, and so
 * on, so that there is one for whoever comes, though a few send all day. While others wait, the slowest are cut off
 * ({@link SlowClients}), so that nobody keeps a seat by sending a byte now and then.
 */
export interface UploadLine {
  /**
   * Resolves at the caller's turn; the seat is given back with the scope. 503 `busy` when the line is full, or the turn
   * does not come in time, 400 when the scope ends meanwhile. `cut` is called with what to answer when the seat is
   * taken away.
   */
  enter(scope: Scope, caller: string, cut: (failure: Failure) => void): Promise<ReceivingSeat>
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

type Cut = (failure: Failure) => void

/** `cut` is told of each body that is cut off, and how fast it came. */
export const createUploadLine = (timers: Timers, cut: (bytesPerSecond: number) => void): UploadLine => {
  const slow = new SlowClients<ReceivingSeat>(timers, cut)
  const seats = new Map<string, number>()
  const seatsOf = (caller: string): number => seats.get(caller) ?? 0
  let taken = 0
  const free = (): number => uploadBodiesAtOnce - taken
  const waiting = new WaitingBodies(seatsOf, free, () => uploadBodiesAtOnce / Math.max(2, seats.size))

  const take = (scope: Scope, caller: string, cut: Cut): ReceivingSeat => {
    taken += 1
    seats.set(caller, seatsOf(caller) + 1)
    const seat = slow.add(new ReceivingSeat(caller, timers, () => cut(tooSlow())))
    scope.own(() => giveBack(seat))
    return seat
  }

  const giveBack = (seat: ReceivingSeat): void => {
    slow.delete(seat)
    taken -= 1
    const left = seatsOf(seat.caller) - 1
    if (left > 0) seats.set(seat.caller, left)
    else seats.delete(seat.caller)
    while (taken < uploadBodiesAtOnce) {
      const next = waiting.next()
      if (next === null) return
      next.begin()
    }
  }

  const wait = (scope: Scope, caller: string, cut: Cut): Promise<ReceivingSeat> =>
    new Promise((resolve, reject) => {
      const body: WaitingBody = {
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
      const cancelTimer = timers.after(uploadBodyWaitMs, () => body.giveUp(noneCameFree()))
      const leave = scope.own(() => {
        cancelTimer()
        waiting.delete(body)
        // Of what was settled before, nobody hears.
        reject(new Failure('invalid_request', 'The connection was closed while the file waited to be received.'))
      })
      if (!scope.over) waiting.add(body)
    })

  return {
    async enter(scope, caller, cut) {
      if (seatsOf(caller) < free()) return take(scope, caller, cut)
      if (waiting.count >= uploadBodiesWaitingMax) {
        const body = waiting.hindmost(caller)
        if (body === null) throw lineIsFull()
        body.giveUp(lineIsFull())
      }
      const seat = wait(scope, caller, cut)
      slow.watch(() => waiting.wanted())
      return seat
    },
  }
}
