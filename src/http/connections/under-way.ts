import type { Scope } from '../../kernel/scope.ts'
import { Lingering } from './lingering.ts'

/** Requests that are being served. Whoever is about to read a refusal is under way, too. */
export class UnderWay {
  readonly lingering = new Lingering()
  #requests = 0
  #whenIdle: (() => void) | null = null

  constructor() {
    this.lingering.onNone(() => this.#look())
  }

  /** One more, until its scope ends. */
  enter(scope: Scope): void {
    this.#requests += 1
    scope.own(() => {
      this.#requests -= 1
      this.#look()
    })
  }

  /** Resolves when none is left, or after so long. */
  async end(withinMs: number): Promise<void> {
    if (this.#isIdle) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, withinMs)
    this.#whenIdle = resolve
    await promise
    clearTimeout(timer)
  }

  get #isIdle(): boolean {
    return this.#requests === 0 && this.lingering.size === 0
  }

  #look(): void {
    if (this.#isIdle) this.#whenIdle?.()
  }
}
