import { Failure } from '../../kernel/failure.ts'
import { downloadRangesMax, downloadSlotMs } from '../../kernel/limits/downloads.ts'
import { OwningScope } from '../../kernel/scope.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { Download, Slot } from './download.ts'

interface TogetherDeps {
  readonly timers: Timers
  /** The line in which a slot is waited for. */
  readonly enter: (download: Download) => Promise<Slot> | Slot
  readonly othersWait: () => boolean
}

interface Together {
  readonly key: string
  /** The slot ends with it, or the place in the line. */
  readonly scope: OwningScope
  readonly requests: Set<Download>
  /** A promise while it is waited for. */
  slot: Promise<Slot> | Slot
  begunMs: number | null
}

/**
 * Ranges of one content take one slot where their client fetches them side by side and has no id for them. The first
 * waits in the line, those that come meanwhile wait with it, and the slot is free with the last. One that was held for
 * its time takes nobody more while others wait: who comes then has a slot of their own to wait for.
 */
export class RangesTogether {
  readonly #deps: TogetherDeps
  readonly #open = new Map<string, Together>()

  constructor(deps: TogetherDeps) {
    this.#deps = deps
  }

  /** Resolves when the bytes may be sent. Throws what the line throws. */
  enter(download: Download): Promise<Slot> | Slot {
    const key = [download.caller, download.downloadClass, download.content].join('\0')
    const known = this.#open.get(key)
    return this.#join(known !== undefined && this.#takesMore(known) ? known : this.#begin(key, download), download)
  }

  #takesMore({ requests, begunMs }: Together): boolean {
    if (requests.size >= downloadRangesMax) return false
    const { timers, othersWait } = this.#deps
    return begunMs === null || timers.now() - begunMs < downloadSlotMs || !othersWait()
  }

  #begin(key: string, download: Download): Together {
    const { timers, enter } = this.#deps
    const scope = new OwningScope(rethrow)
    const requests = new Set<Download>()
    const hangUp = (): void => {
      for (const request of [...requests]) request.hangUp()
    }
    const slot = enter({ ...download, scope, hangUp })
    const together: Together = { key, scope, requests, slot, begunMs: slot instanceof Promise ? null : timers.now() }
    if (slot instanceof Promise)
      together.slot = slot.then((given) => {
        together.begunMs = timers.now()
        together.slot = given
        return given
      })
    this.#open.set(key, together)
    return together
  }

  #join(together: Together, download: Download): Promise<Slot> | Slot {
    const { slot } = together
    together.requests.add(download)
    if (!(slot instanceof Promise))
      return { sent: slot.sent, end: download.scope.own(() => this.#leave(together, download)) }
    const granting = Promise.withResolvers<Slot>()
    const end = download.scope.own(() => {
      this.#leave(together, download)
      // Whoever is gone waits no longer, whatever the others do.
      granting.reject(new Failure('busy', 'The client is gone.'))
    })
    slot.then(
      ({ sent }) => granting.resolve({ sent, end }),
      (error: unknown) => {
        granting.reject(error)
        end()
      },
    )
    return granting.promise
  }

  #leave(together: Together, download: Download): void {
    together.requests.delete(download)
    if (together.requests.size > 0) return
    if (this.#open.get(together.key) === together) this.#open.delete(together.key)
    together.scope.end()
  }
}

const rethrow = (error: unknown): never => {
  throw error
}
