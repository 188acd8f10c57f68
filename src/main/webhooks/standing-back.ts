import { readFileSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import {
  webhookNiceness,
  webhookSpareShare,
  webhookStandBackLookMs,
  webhookStandBackMaxMs,
} from '../../kernel/limits/webhooks.ts'
import { monotonicMs } from '../../kernel/monotonic.ts'

/*
 * Uploads and downloads never wait for webhooks. Niceness alone does not see to that: what deliveries wake, receivers
 * and the kernel's network, is as important as everybody, and on a machine without a processor to spare it stands in
 * front of requests and of the database. So the thread looks whether there is one, and takes its time where there is
 * not.
 */

/** What all processors of the machine had since it began, in one unit or another. */
export interface MachineTime {
  readonly all: number
  /** In which they had nothing to do, or waited for disks. */
  readonly spare: number
}

/** Null where the system does not say. */
export const timeOfMachine = (path = '/proc/stat'): MachineTime | null => {
  try {
    // Linux: user, nice, system, idle, waiting for disks, interrupts, soft ones, and what a host gave to others.
    const [, ...times] =
      /^cpu +(\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(readFileSync(path, 'latin1')) ?? []
    const [all, spare] = [times, times.slice(3, 5)].map((each) => each.reduce((sum, time) => sum + Number(time), 0))
    return all === undefined || spare === undefined || all === 0 ? null : { all, spare }
  } catch {
    return null
  }
}

/**
 * How long a delivery pauses before it begins. Each look at which the machine had nothing to spare doubles the pause up
 * to a bound, and every other one takes a little of it back.
 */
export const createStandingBack = (
  timeOf: () => MachineTime | null = timeOfMachine,
  nowMs: () => number = monotonicMs,
): (() => number) => {
  let last: { readonly atMs: number; readonly time: MachineTime } | null = null
  let pauseMs = 0
  return () => {
    const atMs = nowMs()
    if (last !== null && atMs - last.atMs < webhookStandBackLookMs) return pauseMs
    const time = timeOf()
    if (time === null) return 0
    const before = last?.time ?? time
    const isFull = time.spare - before.spare < (time.all - before.all) * webhookSpareShare
    pauseMs = isFull ? Math.min(Math.max(1, 2 * pauseMs), webhookStandBackMaxMs) : Math.max(0, pauseMs - 1)
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
