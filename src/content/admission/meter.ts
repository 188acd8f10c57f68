import type { DownloadClass, downloadClasses } from '../../kernel/download-class.ts'

/** What the queue did in this process, for metrics and readiness. */
export interface DownloadMeter {
  /** Downloads that were given a slot. */
  admitted: number
  /** Requests that were told to come back. */
  queued: number
  /** Slots given back at a range boundary because others waited. */
  yielded: number
  /** Slots taken from clients that took too little while others waited. */
  cut: number
  /** Requests that nobody had room for in time. */
  refused: number
  readonly bytes: Record<DownloadClass, number>
  /** Called with the seconds that each admitted download waited. */
  waited: (seconds: number) => void
  /** Called with the pace of each slot that was taken from a slow client. */
  tooSlow: (bytesPerSecond: number) => void
}

export const createDownloadMeter = (): DownloadMeter => ({
  admitted: 0,
  queued: 0,
  yielded: 0,
  cut: 0,
  refused: 0,
  bytes: { interactive: 0, release: 0, bulk: 0, background: 0 } satisfies Record<
    (typeof downloadClasses)[number],
    number
  >,
  waited: () => {},
  tooSlow: () => {},
})
