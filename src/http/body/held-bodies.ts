import { Failure } from '../../kernel/failure.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { ReceivingSeat } from './receiving-seat.ts'

type Cut = (failure: Failure) => void

interface Held {
  bytes: number
  /** While it comes; null before, and when all of it is here: whoever works with it has it then. */
  cut: Cut | null
}

interface Holding {
  bytes: number
  readonly bodies: Set<Held>
}

type Seat = Pick<ReceivingSeat, 'awaits' | 'goesOn' | 'received'>

/** A small body. */
interface HeldBody {
  /** It is read from now on. `cut` is called with what to answer where it may not stay. */
  comes(cut: Cut): Seat
  /** All of it is here. */
  isHere(): void
}

/**
 * Small bodies, which are whole in memory until they are answered, and what larger ones keep of themselves. Small ones
 * wait in no line and take no place of a file's: a few hundred bytes must not stand behind what others send for hours.
 * All of them together have a bound: beyond it the largest that still comes is cut, of whoever holds most, so that
 * nobody fills the memory by sending slowly.
 */
export class HeldBodies {
  readonly #bytesMax: number
  readonly #callers = new Map<string, Holding>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** One that is held until the scope ends. */
  hold(scope: Scope, caller: string): HeldBody {
    const held: Held = { bytes: 0, cut: null }
    const holding = this.#callers.get(caller) ?? { bytes: 0, bodies: new Set() }
    this.#callers.set(caller, holding)
    holding.bodies.add(held)
    scope.own(() => this.#forget(caller, held))
    const received = (bytes: number): void => {
      if (!holding.bodies.has(held)) return
      held.bytes += bytes
      this.#add(holding, bytes)
      while (this.#bytes > this.#bytesMax && this.#cutOne());
    }
    return {
      comes(cut) {
        held.cut = cut
        return { awaits() {}, goesOn() {}, received }
      },
      isHere() {
        held.cut = null
      },
    }
  }

  /** False where nothing comes that could be cut. */
  #cutOne(): boolean {
    let most: { readonly caller: string; readonly bytes: number; readonly largest: Held } | null = null
    for (const [caller, { bytes, bodies }] of this.#callers) {
      if (most !== null && bytes <= most.bytes) continue
      const largest = largestThatComes(bodies)
      if (largest !== null) most = { caller, bytes, largest }
    }
    if (most === null) return false
    this.#forget(most.caller, most.largest)
    most.largest.cut?.(noRoom())
    return true
  }

  #forget(caller: string, held: Held): void {
    const holding = this.#callers.get(caller)
    if (holding?.bodies.delete(held) !== true) return
    this.#add(holding, -held.bytes)
    if (holding.bodies.size === 0) this.#callers.delete(caller)
  }

  #add(holding: Holding, bytes: number): void {
    holding.bytes += bytes
    this.#bytes += bytes
  }
}

const largestThatComes = (bodies: ReadonlySet<Held>): Held | null => {
  let largest: Held | null = null
  for (const held of bodies) if (held.cut !== null && held.bytes > (largest?.bytes ?? 0)) largest = held
  return largest
}

const noRoom = (): Failure =>
  new Failure('busy', 'Many requests are being received. Send this one again in a moment.', { retryAfterSeconds: 5 })
