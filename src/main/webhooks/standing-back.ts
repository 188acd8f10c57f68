import { readFileSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import {
  webhookBesideBusyShare,
  webhookBesideWaitingShare,
  webhookNiceness,
  webhookStandBackLookMs,
  webhookStandBackMaxMs,
} from '../../kernel/limits/webhooks.ts'
import { monotonicMs } from '../../kernel/monotonic.ts'

/*
 * Uploads and downloads never wait for webhooks. Niceness alone does not see to that: what deliveries wake, receivers
 * and the kernel's network, is as important as everybody, and on a machine without a processor to spare it stands in
 * front of requests. So the thread looks at how requests fare, and takes its time while they do not get what they want.
 */

/** What a thread had of the processor, and how long it waited for it, in milliseconds since it began. */
export interface ProcessorTime {
  readonly hadMs: number
  readonly waitedMs: number
}

/** Of the thread that answers requests; null where the system does not say. */
export const timeOfRequests = (): ProcessorTime | null => {
  try {
    // Linux: nanoseconds on a processor, nanoseconds ready and waiting for one.
    const [had, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')
    return { hadMs: Number(had) / 1e6, waitedMs: Number(waited) / 1e6 }
  } catch {
    return null
  }
}

/**
 * How long a delivery pauses before it begins. Each look at which requests want most of a processor and wait for it
 * doubles the pause up to a bound, and every other one halves it: nobody is behind for longer than that lasts.
 */
export const createStandingBack = (
  timeOf: () => ProcessorTime | null = timeOfRequests,
  nowMs: () => number = monotonicMs,
): (() => number) => {
  let last: { readonly atMs: number; readonly time: ProcessorTime } | null = null
  let pauseMs = 0
  return () => {
    const atMs = nowMs()
    if (last !== null && atMs - last.atMs < webhookStandBackLookMs) return pauseMs
    const time = timeOf()
    if (time === null) return 0
    const before = last ?? { atMs, time }
    const forMs = atMs - before.atMs
    const waitedMs = time.waitedMs - before.time.waitedMs
    const wantedMs = time.hadMs - before.time.hadMs + waitedMs
    const isInTheWay = wantedMs > forMs * webhookBesideBusyShare && waitedMs > forMs * webhookBesideWaitingShare
    pauseMs = isInTheWay ? Math.min(Math.max(1, 2 * pauseMs), webhookStandBackMaxMs) : Math.floor(pauseMs / 2)
    last = { atMs, time }
    return pauseMs
  }
}

/** Where there is too little of the processor for both, the kernel prefers requests to this thread. */
export const beNice = (): void => {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), webhookNiceness)
  } catch {
    // Only Linux has priorities of threads.
  }
}
