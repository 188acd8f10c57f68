import { setTimeout as pause } from 'node:timers/promises'

/** Waits for a condition, not for time: asks again and again, and gives up only when the test would have hung. */
export const until = async <T>(
  what: string,
  look: () => Promise<T | false | null | undefined> | T | false | null | undefined,
): Promise<T> => {
  const giveUpAt = performance.now() + 30_000
  for (;;) {
    const seen = await look()
    if (seen !== false && seen !== null && seen !== undefined) return seen
    if (performance.now() > giveUpAt) throw new Error(`waited in vain for: ${what}`)
    await pause(5)
  }
}
