/** A seat; called once when it is left. */
type Leave = () => void

interface Waiting {
  readonly origin: string
  readonly sit: () => void
}

/**
 * So many at once in all, and so many of one origin. Who finds none waits in line, where those whose origin has no seat
 * are passed by, until one is there or until `signal` says that it is in vain.
 */
export class Seats {
  readonly #atOnce: number
  readonly #perOrigin: number
  readonly #line: Waiting[] = []
  readonly #taken = new Map<string, number>()
  #all = 0

  constructor(atOnce: number, perOrigin: number) {
    this.#atOnce = atOnce
    this.#perOrigin = perOrigin
  }

  async take(origin: string, signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted()
    if (!this.#sit(origin)) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const waiting = { origin, sit: resolve }
      const giveUp = (): void => {
        const at = this.#line.indexOf(waiting)
        if (at === -1) return
        this.#line.splice(at, 1)
        reject(signal.reason)
      }
      this.#line.push(waiting)
      signal.addEventListener('abort', giveUp, { once: true })
      await promise.finally(() => signal.removeEventListener('abort', giveUp))
    }
    return () => this.#leave(origin)
  }

  #sit(origin: string): boolean {
    const taken = this.#taken.get(origin) ?? 0
    if (this.#all >= this.#atOnce || taken >= this.#perOrigin) return false
    this.#all += 1
    this.#taken.set(origin, taken + 1)
    return true
  }

  #leave(origin: string): void {
    const left = (this.#taken.get(origin) ?? 1) - 1
    if (left === 0) this.#taken.delete(origin)
    else this.#taken.set(origin, left)
    this.#all -= 1
    const next = this.#line.findIndex((each) => this.#sit(each.origin))
    if (next !== -1) this.#line.splice(next, 1)[0]?.sit()
  }
}
