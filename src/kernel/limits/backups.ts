import { day, GiB, hour, KiB, MiB, minute, second } from '../units.ts'

/*
 * Backups: what is in memory at once, and what time does.
 */

/** Files below this size are put together into packs, so that a million of them are not a million objects. */
export const packedBelowBytes = MiB
/** A pack is in memory whole, written and read. */
export const packBytesMax = 16 * MiB
export const packEntriesMax = 4_096
/** Packs that a restore keeps in memory, since what is read next most often lies in the same one. */
export const packsKept = 4
/** Files whose positions a restore remembers: far more than it asks for at once. */
export const entriesAheadMax = 4_096
/** A pack of which less than this share is still wanted is left behind: what is wanted of it is written anew. */
export const packLivePercentMin = 50

/** Lines of the list of a point that wait in memory until the pack is written that one of them is about. */
export const linesPendingMax = 65_536

/**
 * Lines of a chunk: one in so many ends it by its own content, so that what is inserted moves no boundary but its own.
 * Never fewer than the least, never more than the most.
 */
export const chunkLinesMin = 512
export const chunkLinesAbout = 2_048
export const chunkLinesMax = 16_384
/** What is hashed, compared and split in one piece, beside people's requests: some milliseconds. */
export const chunkCharactersMax = 2 * MiB
/** The text of a chunk with its longest line, all of four bytes. */
export const chunkBytesMax = 64 * MiB
/** One chunk takes some 300 bytes of a manifest, and has some 2,000 rows: enough for a hundred million of them. */
export const backupManifestBytesMax = 16 * MiB

/** Chunks of rows that are looked up or written at once. */
export const backupChunksAtOnce = 8
/** Blobs that are copied at once. People's transfers come first. */
export const backupBlobsAtOnce = 4
/** Folders of a vault whose names are made durable at once: a part of the thread pool. */
export const foldersSyncedAtOnce = 8
/** Small ones that are read at once on their way into a pack. */
export const packedBlobsAtOnce = 8
/** Compressing and decompressing give pieces of this size: many small ones cost more than the work. */
export const codingPieceBytes = 256 * KiB
/** Files of a folder whose length is looked up at once. */
export const backupFilesLookedUpAtOnce = 16
/** What was copied is written down after so many files or bytes: what a crash makes a later run read again at most. */
export const indexEntriesMax = 1_024
export const indexBytesMax = GiB
/** An index is that and a pack at most, some 300 bytes a line: what is longer nobody of us wrote. */
export const indexTextBytesMax = 2 * MiB
/** Indexes whose entries are in memory at once: those of one capture follow one another. What is beyond is not used. */
export const indexesOpenMax = 32
/** A file is compressed when its first bytes shrink below this share. */
export const compressSampleBytes = 128 * KiB
export const compressBelowPercent = 90

/** What a vault may list, which may be anybody's: ten points a day for twenty-seven years; indexes of 100 TB. */
export const pointsLyingMax = 100_000
export const indexesLyingMax = 100_000
/** A part is one of 256, and most of what is in it has a MiB or more. */
export const partFilesMax = 1_000_000

/** Nothing is swept that is younger: another service on the same vault may be about to name it. */
export const sweptAfterMs = day
/** New data has new names after so long: well before what bears the old ones may be swept. */
export const namesNewEveryMs = sweptAfterMs / 2
/** What a capture copied that found no end waits so long for the next one to go on from it. */
export const unfinishedKeptMs = 30 * day
/** And is gone on from for so long: a capture may take days. */
export const unfinishedUsedMs = 28 * day
/** A point whose manifest is away is known for so long: a disk may be moved, a bucket be brought back. */
export const missingKeptMs = 30 * day
/** Who reads a point says so anew after so long, and is believed for some times that. */
export const pointHeldEveryMs = hour
export const pointHeldMs = 6 * hour
/** Manifests, and files that say that somebody reads one. */
export const holdsOfPointsMax = 2 * pointsLyingMax
/** Files that are removed at a time. */
export const sweepBatch = 256
/** All of a vault is read within so many days, a share each day. */
export const deepShares = 7

/** How often the agent looks, tells that it is there, and how far it is. */
export const agentLookMs = 5 * second
export const agentOnlineMs = minute
/** An agent that was silent for so long has lost its work to another one. */
export const agentLeaseMs = 45 * second
/** A point that was not taken for a reason that may pass is tried again after so long. */
export const captureTriedEveryMs = 30 * minute
/** How often it looks at the vault while there is nothing to do. */
export const vaultLookMs = minute

/** Chunks that one request for the contents of a point looks into: some ten thousand rows. */
export const contentChunksMax = 8
/** Part of a name that is looked for there. */
export const contentNameMaxCharacters = 200

/** Rows of a repository that is brought back beside a living service, in one transaction. */
export const restoredRowsAtOnce = 100

/** Files that the vault brought back are counted for so long. */
export const healedKeptMs = 365 * day
/** Rotten files that a scrub gathers before it looks for them in the vault: one pass over the lists of a point each. */
export const rottenAtOnce = 1_000

/** A restore is tried again when the last one that was proven is so old; after one that failed, sooner. */
export const rehearsalEveryMs = 30 * day
export const rehearsalTriedEveryMs = day
export const rehearsalsKeptMs = 365 * day
/** Things of each kind that a rehearsal asks the restored service for. */
export const samplesOfEachKind = 10

export const openBackupRequestsMax = 100
/** Ended jobs are kept for so long. */
export const backupJobsKeptMs = 90 * day
/** A time that is further ahead was told by a clock that was wrong: machines differ by less. It counts as none. */
export const clockAheadMs = 10 * minute
/** A backup is stale when the newest is older than its interval and this. */
export const staleAfterMs = 24 * hour + 2 * hour
/** Below this share of the vault, or this room, it is low. */
export const lowSpacePercent = 10
export const lowSpaceBytes = 10 * GiB

export const retentionDailyMax = 366
export const retentionWeeklyMax = 260
export const retentionMonthlyMax = 120
export const timezoneMaxCharacters = 64
export const backupWarningsMax = 10
