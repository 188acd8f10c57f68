import { type FollowingDeps, follow } from './following.ts'
import { giveUpUnnamed, tryAtOnce } from './standing.ts'
import type { Subscribed } from './subscription.ts'

interface Follower {
  /** What it was started with: another text is another subscription. */
  readonly text: string
  readonly stop: () => Promise<void>
}

/** All subscriptions of a worker, each by itself: what one waits for keeps none of the others. */
export class Followers {
  readonly #deps: FollowingDeps
  readonly #running = new Map<string, Follower>()
  readonly #unnamed = new Map<string, { readonly namedAt: string; readonly sinceMs: number }>()

  constructor(deps: FollowingDeps) {
    this.#deps = deps
  }

  /**
   * Follows these from now on, and no others. Those that are as they were go on undisturbed; one of which anything
   * changed, its secrets as well, is tried at once and not when its pause is over.
   */
  async follow(all: readonly Subscribed[], changed: ReadonlySet<string> = new Set()): Promise<void> {
    const texts = new Map(all.map((each) => [each.subscription.id, JSON.stringify(each.subscription)]))
    const stale = [...this.#running].filter(([id, { text }]) => texts.get(id) !== text)
    await Promise.all(stale.map(([, { stop }]) => stop()))
    for (const [id] of stale) this.#running.delete(id)
    for (const id of changed) await tryAtOnce(this.#deps, id).catch(() => false)
    for (const each of all)
      if (!this.#running.has(each.subscription.id)) this.#running.set(each.subscription.id, this.#start(each))
  }

  /** Gives up what was in the file once. */
  async prune(): Promise<void> {
    try {
      await giveUpUnnamed(this.#deps, new Set(this.#running.keys()), this.#unnamed)
    } catch (error) {
      this.#deps.tell({
        event: 'webhook.prune_failed',
        webhook: '',
        facts: { why: this.#deps.known(error) ?? String(error) },
      })
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ stop }) => stop()))
    this.#running.clear()
  }

  #start(subscribed: Subscribed): Follower {
    const ending = new AbortController()
    const done = follow(this.#deps, subscribed, ending.signal)
    return {
      text: JSON.stringify(subscribed.subscription),
      async stop() {
        ending.abort()
        await done
      },
    }
  }
}
