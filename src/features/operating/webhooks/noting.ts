import { webhookNotesTogetherMs } from '../../../kernel/limits/webhooks.ts'
import { type Note, type Noted, type NoteOf, noteSubscriptions, type StandingDeps } from './standing.ts'
import type { Subscription } from './subscription.ts'

interface Asked extends NoteOf, PromiseWithResolvers<Noted | null> {}

/**
 * Notes how subscriptions stand, in one transaction those that come within a moment: sixteen transactions a moment
 * would stand in the way of requests. One note of a subscription at a time, as whoever follows it makes them.
 */
export class Noting {
  readonly #deps: StandingDeps
  readonly #holder: string
  #asked: Asked[] = []

  constructor(deps: StandingDeps, holder: string) {
    this.#deps = deps
    this.#holder = holder
  }

  /** Null when another worker has it. */
  note(subscription: Subscription, note: Note): Promise<Noted | null> {
    const asked = { subscription, note, ...Promise.withResolvers<Noted | null>() }
    this.#asked.push(asked)
    if (this.#asked.length === 1) setTimeout(() => void this.#write(), webhookNotesTogetherMs)
    return asked.promise
  }

  async #write(): Promise<void> {
    const together = this.#asked
    this.#asked = []
    try {
      const noted = await noteSubscriptions(this.#deps, this.#holder, together)
      for (const [at, { resolve }] of together.entries()) resolve(noted[at] ?? null)
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
}
