import { minute, second } from '../units.ts'

/** Bounds of processes: their start, their end, and how they look at each other. */

/** Gateway processes on one port: how many, how long one may take to start, and the pause before another takes its place. */
export const gatewayProcessesMax = 64
export const gatewayStartMs = 2 * minute
export const gatewayRestartMs = second
/** How long one that is asked for its metrics may take. */
export const processMetricsMs = 2 * second

/** Stopping: how long transfers may take to finish before they are cut. */
export const drainMs = 30 * second
/** Signals to stop that come within this time of the first are that one, which reached the process on several ways. */
export const sameStopMs = 2 * second

/** A dependency check is believed this long. */
export const readinessBelievedMs = second // spec
/** How long a command waits for the answer of a service; the slowest hashes a password behind others. */
export const commandAnswerMs = minute
