import { KiB, MiB, minute, second } from '../units.ts'

/** Bounds of processes: their start, their end, and how they look at each other. */

/**
 * Gateway processes on one port: how many, how long one may take to start, and the pause before another takes its
 * place.
 */
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

/** How long the event loop is worked on in one piece by what takes long, before others have their turn. */
export const workedAtOnceMs = 4

/** Bytes of the log that wait for who reads it: the lines of some seconds of full load. */
export const logWaitingBytesMax = 8 * MiB
/**
 * One write of it: what a pipe takes as one piece (PIPE_BUF), so that lines of several processes do not run into one
 * another.
 */
export const logWriteBytesMax = 4 * KiB

/** How often it is looked whether what was away is back. */
export const outageLookEveryMs = second
/** How often it is looked whether something went that nobody has met: often enough for whoever reads the log. */
export const outageWatchEveryMs = 10 * second
/**
 * A disk counts as full until nothing failed for want of room for so long: what was freed may be taken again at once.
 */
export const diskQuietMs = 10 * second

/** What is counted anew for each look at the service is counted up to here: some milliseconds. */
export const countedMax = 10_000

/** Lines of what needs somebody: more than a person does in a day. */
export const attentionMax = 200

/** Texts that come with every request (hosts, accounts): what was found out about so many is remembered. */
export const rememberedMax = 500
/** Longer ones are looked at each time, so that nobody fills the memory with them. */
export const rememberedKeyCharactersMax = 300
