import type { Download } from './download.ts'
import type { Holding, Wish } from './fair-queue.ts'
import type { SendingSlot } from './sending-slot.ts'

/** What happens when the turn of a wish comes. */
type Grant = (holding: Holding<Waiter>) => void
export interface Waiter {
  readonly grant: Grant
  /** Its place is given to somebody who waits less often. */
  readonly giveUp: () => void
}

/** What all requests of a session have in common. */
export const sessionKey = ({ caller, downloadClass, id, content }: Download): string =>
  [caller, downloadClass, id, content].join('\0')

/** A download with an id, whose requests share one slot. */
export interface Session {
  readonly key: string
  readonly download: Download
  /** Begin of the wait, as its ticket says. */
  sinceMs: number
  wish: Wish<Waiter> | null
  holding: Holding<Waiter> | null
  slot: SendingSlot | null
  /** Requests that are sending. */
  ranges: number
  retrySeconds: number
  cancelTimer: () => void
}
