import {
  uploadBodiesAtOnce,
  uploadBodiesPerCaller,
  uploadBodiesWaitingMax,
  uploadBodyWaitMs,
} from '../kernel/admission-limits.ts'
import { Failure } from '../kernel/failure.ts'
import type { Scope } from '../kernel/scope.ts'

/**
 * The line in which bodies of files wait to be received: each takes memory, a place in the hashing ring and a disk. Whoever has
 * the fewest under way is next, so that one who sends hundreds does not keep the others waiting; and one caller alone never
 * has all places, so that slow bodies of one leave room.
 */
export interface UploadLine {
  /**
   * Resolves at the caller's turn; the place is given back with the scope. 503 `busy` when the line is too long, or the turn
   * does not come in time, 400 when the scope ends meanwhile.
   */
  enter(scope: Scope, caller: string): Promise<void>
}

interface Waiting {
  readonly caller: string
  begin(): void
}

const busy = (why: string): Failure =>
  new Failure('busy', `${why} Send the file again in a moment.`, { retryAfterSeconds: 5 })

export const createUploadLine = (): UploadLine => {
  const underWay = new Map<string, number>()
  const waiting = new Set<Waiting>()
  let all = 0
  const of = (caller: string): number => underWay.get(caller) ?? 0

  const take = (scope: Scope, caller: string): void => {
    all += 1
    underWay.set(caller, of(caller) + 1)
    scope.own(() => {
      all -= 1
      const left = of(caller) - 1
      if (left > 0) underWay.set(caller, left)
      else underWay.delete(caller)
      admit()
    })
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

  const wait = (scope: Scope, caller: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const one: Waiting = {
        caller,
        begin() {
          take(scope, caller)
          resolve()
          leave()
        },
      }
      const timer = setTimeout(() => {
        reject(busy(`Many files are being received, and no place came free in ${uploadBodyWaitMs / 1000} seconds.`))
        leave()
      }, uploadBodyWaitMs)
      const leave = scope.own(() => {
        clearTimeout(timer)
        waiting.delete(one)
        // Of what was settled before, nobody hears.
        reject(new Failure('invalid_request', 'The connection was closed while the file waited to be received.'))
      })
      if (!scope.over) waiting.add(one)
    })

  return {
    async enter(scope, caller) {
      if (all < uploadBodiesAtOnce && of(caller) < uploadBodiesPerCaller) return take(scope, caller)
      if (waiting.size >= uploadBodiesWaitingMax) throw busy('Many files are being received, and the line is long.')
      await wait(scope, caller)
    },
  }
}

/** The pieces of a body, the first of them when the line lets it begin. */
export const inLine = (pieces: AsyncIterable<Uint8Array>, enter: () => Promise<void>): AsyncIterable<Uint8Array> => ({
  async *[Symbol.asyncIterator]() {
    await enter()
    yield* pieces
  },
})
