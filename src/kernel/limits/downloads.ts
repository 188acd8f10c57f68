import { KiB, MiB, minute, second } from '../units.ts'

/** Bounds of how bytes go out: slots, queues, sessions of ranges, what is kept in memory. */

/** Downloads. */
export const downloadSlotsDefault = 64
export const downloadSlotsMax = 10_000
/** How long a request without an id is held before it is told to come back. */
export const downloadWaitSecondsDefault = 30
/** What leaves in one piece needs no slot: a slot is for what keeps buffers and a disk busy. */
export const smallDownloadBytes = 64 * KiB
/** Files that are kept in memory once they were sent: the largest, and all together. */
export const smallFileBytesMax = 32 * KiB
export const smallFilesBytesMax = 16 * MiB
/** The largest that are kept where they are asked for again while so many others are: most packages of npm. */
export const lovedFileBytesMax = 128 * KiB
export const lovedFilesAmong = 64
/** How long an address of the store may be used to begin a download. */
export const storeAddressSeconds = 300
/** How the classes share the slots when all of them want more than there is. */
export const downloadClassShares = { interactive: 8, release: 4, bulk: 2, background: 1 } as const
/** Waiting for a slot, in all and of one caller; beyond it 503 rather than minutes of waiting. */
export const downloadsWaitingMax = 10_000
export const downloadsWaitingPerCallerMax = 1_000
/** Requests of one session at once; clients that fetch ranges in parallel use up to twenty or so. */
export const downloadRangesMax = 64
/** After this long a session gives its slot back at the next range, if somebody waits. */
export const downloadSlotMs = 10 * second
/**
 * The least that a client has to take or send while others wait for its place, in bytes per millisecond (64 KiB a
 * second).
 */
export const transferPaceMin = (64 * KiB) / second
/** What moves within this time tells the pace: the buffers between hold some megabytes that come at once. */
export const transferPaceMs = 10 * second
/** How often it is looked at while somebody waits. */
export const transferPaceLookMs = second
/** How long a slot is kept between two ranges of a session. */
export const downloadRestMs = second
/** How much later than it was told to a session may ask again. */
export const downloadAwaitedMs = 2 * second
/** Longest pause that a waiting download is asked to make: a slot that is kept for it lies idle that long. */
export const queueRetrySecondsMax = 5
/** How long a ticket is worth its place. A client asks again every few seconds and gets a new one. */
export const queueTicketMs = 10 * minute
/** Callers whose share is remembered in each class. */
export const downloadCallersKept = 20_000
/** Gateways that share slots: how long one may be silent, how often it speaks, and at most when somebody waits. */
export const gatewayLeaseMs = 9 * second
export const gatewayBeatMs = 3 * second
export const gatewayBeatsApartMs = second / 4
/** First guess of what a client takes, in bytes per millisecond, and what a turn is charged ahead at most. */
export const downloadSpeedGuess = 20_000
export const downloadCostMsMax = minute
