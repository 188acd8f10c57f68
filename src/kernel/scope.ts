/**
 * How long something lasts, such as a request, and what was taken for it. Whatever is owned by a scope is given back
 * once: when the scope ends, or sooner, and at once where it has ended already. So nothing that is taken can outlast
 * it, whatever the one who took it is waiting for.
 */
export interface Scope {
  readonly over: boolean
  /**
   * Has `giveBack` called once: at the latest at the end of the scope, at the earliest when the answered function is
   * called. What was taken last is given back first.
   */
  own(giveBack: GiveBack): () => void
}

type GiveBack = () => void | Promise<void>

/**
 * A scope that somebody ends. What fails while it is given back is reported, and keeps nothing else from being given
 * back. Every request has one and takes several things for it, so that they stand in a chain, which costs least.
 */
export class OwningScope implements Scope {
  readonly #report: (error: unknown) => void
  #last: Taken | null = null
  #over = false

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  get over(): boolean {
    return this.#over
  }

  own(giveBack: GiveBack): () => void {
    const taken: Taken = { giveBack, before: this.#last, after: null }
    if (this.#last !== null) this.#last.after = taken
    this.#last = taken
    if (this.#over) this.#release(taken)
    return () => this.#release(taken)
  }

  /** Gives everything back. Ending again is harmless. */
  end(): void {
    this.#over = true
    while (this.#last !== null) this.#release(this.#last)
  }

  #release(taken: Taken): void {
    const { giveBack, before, after } = taken
    if (giveBack === null) return
    taken.giveBack = null
    if (before !== null) before.after = after
    if (after === null) this.#last = before
    else after.before = before
    try {
      giveBack()?.catch(this.#report)
    } catch (error) {
      this.#report(error)
    }
  }
}

interface Taken {
  /** Null once it was given back. */
  giveBack: GiveBack | null
  /** What was taken before it, and after it, and is not given back. */
  before: Taken | null
  after: Taken | null
}
