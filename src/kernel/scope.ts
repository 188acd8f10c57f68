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
 * back.
 */
export class OwningScope implements Scope {
  readonly #report: (error: unknown) => void
  readonly #owned = new Set<() => void>()
  #over = false

  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  get over(): boolean {
    return this.#over
  }

  own(giveBack: GiveBack): () => void {
    let taken = true
    const release = (): void => {
      if (!taken) return
      taken = false
      this.#owned.delete(release)
      void this.#give(giveBack)
    }
    if (this.#over) release()
    else this.#owned.add(release)
    return release
  }

  /** Gives everything back. Ending again is harmless. */
  end(): void {
    this.#over = true
    for (const release of [...this.#owned].reverse()) release()
  }

  async #give(giveBack: GiveBack): Promise<void> {
    try {
      await giveBack()
    } catch (error) {
      this.#report(error)
    }
  }
}
