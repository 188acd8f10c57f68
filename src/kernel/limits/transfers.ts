import { day, GiB, KiB, MiB, second, TiB } from '../units.ts'

/**
 * Bounds of how bytes come in: sizes, parts, sessions, what one caller may have under way, memory, and the room that is
 * left.
 */

/** Uploads. */
export const uploadLifetimeMs = 7 * day // spec
export const uploadDeadlineSecondsDefault = 1_800 // spec
export const objectBytesMax = 10_737_418_240_000 // spec: 10,000 GiB
export const partBytesMin = 8 * MiB // spec
export const partBytesMax = GiB // spec
export const partsMax = 10_000 // spec
/** How long a holder of an upload's turn may be silent before another may take it. Renewed at a third of it. */
export const uploadLeaseMs = 30 * second
/**
 * Turns that a process remembers to have left without being able to give them back; more than lapse in a busy half
 * minute.
 */
export const leftLeasesMax = 1_000
/** A body that sends nothing for this long is given up. */
export const transferIdleMs = 60 * second
/** What comes in and is not hashed yet, of all transfers together; a power of two. */
export const hashRingBytes = 2 * MiB
/** Files and parts up to here are hashed on the event loop, in a tenth of a millisecond. */
export const hashedHereBytesMax = 256 * KiB
/**
 * Running hashes of uploads in parts that a process keeps; the hash of one that fell out is made again from its bytes.
 */
export const runningHashesMax = 1_000
/** Rows of parts that are looked at together. */
export const partsPage = 1_000
/** What completing an upload may read within the request that asks for it (a second or so); the worker reads more. */
export const completionInlineBytesMax = 256 * MiB
/** How long such a request waits for the worker before it answers that it takes longer. */
export const completionWaitMs = 20 * second

/** A file of one request that is no larger is not held against what may be promised. */
export const smallTransferBytes = 16 * MiB
/**
 * Reserved ahead for a body whose length is not declared: an eighth of what came, or so much, and never more than an
 * eighth of what is left, which others want as well. 10 TB need some 120 steps.
 */
export const aheadPart = 8
export const aheadBytes = MiB

/** Small bodies that are gathered in memory before they are stored, all together; beyond it they are staged. */
export const gatheredBytesMax = 64 * MiB
/**
 * So is a file that cannot be larger than this, also where it is not kept in the database: it is hashed at once, so
 * that room is set aside for what it is, in one transaction instead of three.
 */
export const gatheredFileBytesMax = 256 * KiB

/** Space. */
export const capacityBytesDefault = 10 * TiB // spec
export const freeSpaceReserveBytesDefault = GiB // spec
export const cleanupGraceHoursDefault = 24 // spec
/** How long one look at the disk's free space is believed. */
export const freeSpaceBelievedMs = second
/** Received bytes after which a transfer looks again whether the disk keeps its reserve. */
export const roomLookEveryBytes = 16 * MiB

/**
 * Memory per transfer: two buffers of this size when sending, one when many are sent (measured best of 128 KiB to 1
 * MiB).
 */
export const readAheadBytes = 768 * KiB
/**
 * Pieces that are given to the kernel in one turn of the event loop: a millisecond's worth, and then others get a look.
 */
export const piecesPerRound = 4
/** Received bytes that may wait for the disk before the sender is paused. */
export const receiveBufferBytes = MiB
/** Received bytes after which a sync is started beside the transfer, so that the last one is short. */
export const receiveSyncEveryBytes = 64 * MiB
/** The same for a part, whose answer waits for the last one: the disk works while the part still comes. */
export const partSyncEveryBytes = 2 * MiB
/** Less than this is not worth a sync of its own. */
export const receiveSyncBytesMin = 512 * KiB

/**
 * Uploads under way of one caller, sessions and requests: a build machine that sends a hundred files at once is served,
 * and what they say of themselves (130 KiB each at most) stays below 13 MiB.
 */
export const openUploadsPerCallerMax = 100
/** The same of all callers together; summing up what they reserve takes some ten milliseconds. */
export const openUploadsMax = 10_000
/** Records of cancelled sessions that are kept of one caller; the oldest go before their seven days are over. */
export const cancelledUploadsPerCallerMax = 1_000
/** Of those, so many go with each that is cancelled: more than one, so that a lowered bound is reached. */
export const cancelledUploadsForgotten = 4
/** How much of the room that is left one caller's uploads may reserve, unless a setting says otherwise. */
export const uploadSharePercentDefault = 50
/** What one caller may always reserve where there is room at all: with less left, a share of it would help nobody. */
export const uploadShareFloorBytes = GiB

/** Bodies of files that a process receives at once: each takes a MiB or two of memory. */
export const uploadBodiesAtOnce = 128
/** Of those, of one caller: half, which is as many as one takes who leaves as many to the others (upload-line.ts). */
export const uploadBodiesPerCaller = 64
/** Waiting to be received; beyond it 503 rather than minutes of waiting. A connection and some kilobytes each. */
export const uploadBodiesWaitingMax = 1_000
export const uploadBodyWaitMs = 30 * second

/**
 * An upload whose length nobody says beforehand is stored in segments of this size. The last one is written again with
 * what is appended to it; a store that puts objects together takes no smaller ones (5 MiB) but at the end.
 */
export const appendedSegmentBytes = 8 * MiB
/** As many segments as one object is put together from: 80,000 MiB. */
export const appendedBytesMax = partsMax * appendedSegmentBytes
