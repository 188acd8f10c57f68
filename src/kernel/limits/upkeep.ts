import { day, hour, minute, second } from '../units.ts'

/** Bounds of what nobody asks for: reclaim, removal, scrubbing, checks. */

/**
 * Digests that reclaim gives up in one transaction, and removals at once: a sync serves many, and the pool stays
 * shared.
 */
export const reclaimBatch = 64
export const removalsAtOnce = 8
/** A removal takes milliseconds; one that takes so long is left to itself. */
export const removalPatienceMs = 10 * second
/**
 * The next try of a removal comes after a pause that doubles: a crash is made good soon, a broken disk costs little.
 */
export const removalPauseFirstMs = 10 * second
export const removalPauseLongestMs = hour
/** Tries after which the doctor names a removal: it has failed for some minutes. */
export const removalTriesUnnamed = 5
/** Items of one step of upkeep that may fail before the rest waits for the next run: each is a line in the log. */
export const upkeepFailuresMax = 100
/** How often it is written down that some upkeep went well: often enough for an alert, and hardly ever for the disk. */
export const upkeepNotedEveryMs = minute
/** Names from the store that are looked up together. */
export const listedAtOnce = 500
/** Files of the catalog that are looked for in a store which nobody has signed: one that is there is enough. */
export const ownershipLooksMax = 20
/** How often the upkeep looks through the whole store for what no row knows: a request for each thousand files. */
export const quarantineEveryMs = day
/** What scrubbing reads a second unless told otherwise: a disk's fraction, and a terabyte in six hours. */
export const scrubMiBPerSecondDefault = 50

/** The queue's length in metrics is counted up to here. */
export const reclaimQueueCountedMax = 100_000
/** How long reclaim is held back by somebody who went silent. Renewed at a quarter of it. */
export const reclaimHoldMs = 2 * minute

/**
 * How often the upkeep looks whether small files are kept where the setting says: a query for each thousand files. Some
 * of them are moved in one transaction, so that a sync serves many; and only so many a second, beside what is served.
 */
export const inlineLookEveryMs = hour
/** A look that has very much to move ends, and the next one goes on: it is known that it goes well. */
export const inlineLookMs = 2 * hour
export const inlineBatch = 64
export const inlineMovesPerSecond = 100
/** What the command moves a second unless told otherwise: whoever types it waits for it. */
export const inlineMovesPerSecondTyped = 1_000

/** Upkeep: rows changed in one transaction, and the pause of its clock. */
export const upkeepBatch = 200
export const upkeepEveryMs = 15 * second
/** A staged file without a row is left alone this long: its row may not have been seen yet. */
export const stagingGraceMs = 10 * minute

/**
 * Checks: rows read at a time, and findings of one kind shown, and rounds of mending, before something is clearly badly
 * wrong.
 */
export const checkPage = 1_000
export const findingsMax = 100
/** Stored blobs that a check looks for at once: looking is waiting, and people's requests wait for the same threads. */
export const checkedAtOnce = 8
