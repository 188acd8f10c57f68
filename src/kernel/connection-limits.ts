import { GiB, KiB, MiB, second } from './units.ts'

/** Bounds of connections, beside `limits.ts` (I9). */
export const connectionsMax = 10_000
/** Of one network: a large office behind one address, and never all there are. */
export const connectionsPerNetworkMax = 2_500
/** Of all, for those who ask how the service is when the others are in use. */
export const connectionsReserved = 100
/** How long who has come alone is left its place for its request to come: some round trips to the other end of the world. */
export const connectionMomentMs = 2 * second
/** A connection on which nothing moves for this long although something should is ended. */
export const connectionIdleMs = 60 * second
/** How often it is looked at in that time whether a client takes what there is for it. */
export const takingLooks = 4
/** How long a client may take to take an answer that is no file, which has some megabytes at most. */
export const textAnswerMs = 300 * second
/** Answers that are whole in memory while their clients take them, all together: thirty-two of the largest pages. */
export const unreadBytesMax = 128 * MiB
export const keepAliveMs = 65 * second
export const headersTimeoutMs = 30 * second
/** Requests that came before the answer to the one before them, on all connections; some five kilobytes each. */
export const pipelinedWaitingMax = 20_000

/** A body that nobody wants and that is no longer than this leaves its connection good for the next request. */
export const unwantedBodyBytesMax = 256 * KiB
/**
 * How long and how much of what nobody wants is read and dropped, so that the client gets to see the answer: as long as nginx
 * does, and as much as the largest part.
 */
export const lingerMs = 30 * second
export const lingerIdleMs = 5 * second
export const lingerBytesMax = GiB
/** Connections that are at that at once. */
export const lingeringMax = 256
