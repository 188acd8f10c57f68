import type { Clock } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { readinessBelievedMs } from '../../../kernel/limits/process.ts'

export interface ReadinessDeps {
  /** What requests depend on: its name for people, and a look that throws when it does not answer. */
  readonly dependencies: readonly { readonly what: string; readonly probe: () => Promise<void> }[]
  readonly clock: Clock
  readonly isDraining: () => boolean
}

export interface Readiness {
  /**
   * Throws 503 `draining`, or 503 `unavailable` with the name of what does not answer. One look is believed for a
   * second.
   */
  refuseUnlessReady(): Promise<void>
}

/** Says whether requests can be served: what they depend on answers, and we are not about to stop. */
export const watchReadiness = (deps: ReadinessDeps): Readiness => {
  let seen: { atMs: number; trouble: Promise<string | null> } | null = null
  const look = async (): Promise<string | null> => {
    for (const { what, probe } of deps.dependencies) {
      try {
        await probe()
      } catch {
        return what
      }
    }
    return null
  }
  return {
    async refuseUnlessReady() {
      if (deps.isDraining()) throw new Failure('draining', 'The service is shutting down.', { retryAfterSeconds: 5 })
      const now = deps.clock.now()
      if (seen === null || now - seen.atMs >= readinessBelievedMs || now < seen.atMs)
        seen = { atMs: now, trouble: look() }
      const trouble = await seen.trouble
      if (trouble !== null) throw new Failure('unavailable', `${trouble} does not answer.`, { retryAfterSeconds: 5 })
    },
  }
}
