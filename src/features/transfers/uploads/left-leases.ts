import { leftLeasesMax } from '../../../kernel/limits/transfers.ts'

/**
 * Leases whose requests have ended and could not write that down, because the database was away or its disk full.
 * Nobody works under them any more: in this process the next request does not wait until they lapse.
 */
export interface LeftLeases {
  add(holder: string): void
  has(holder: string): boolean
}

export const createLeftLeases = (): LeftLeases => {
  const holders = new Set<string>()
  return {
    add(holder) {
      holders.add(holder)
      // What is forgotten lapses by itself, the oldest first.
      for (const oldest of holders) {
        if (holders.size <= leftLeasesMax) return
        holders.delete(oldest)
      }
    },
    has: (holder) => holders.has(holder),
  }
}
