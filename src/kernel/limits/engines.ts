import { GiB, hour, KiB, MiB, minute, second } from '../units.ts'

/**
 * Bounds of the engines, the store and the moving of catalogs: what no client meets, and what no operator has to think
 * of.
 */

/**
 * Up to so many readers read the next piece while the last one is sent. With more, one's sending is the other's time to
 * read, and few buffers in turn stay in the processor's cache (measured with 768 KiB: 16 readers 2.9 against 4.2 GiB/s,
 * 64 readers 30 MiB less).
 */
export const readersAheadMax = 4
/** Idle read buffers kept for the next reader: 18 MiB. */
export const idleReadBuffersMax = 24
/**
 * Up to here a read gets a buffer of its own. Beyond it fresh memory costs more than the reading, so that buffers that
 * are used again win (measured at 32 at once, 512 KiB: 60,000 reads a second against 12,000).
 */
export const ownReadBufferBytesMax = 64 * KiB

/**
 * Threads of the pool that does all waiting for files, password hashes and names of hosts. Node has four, which four
 * slow syncs took (measured: a small file from memory 2 s instead of 9 ms). Threads that wait cost next to nothing.
 */
export const threadPoolThreads = 32
/**
 * Syncs of stored files at once: a quarter of the pool, so that a disk which is slow to sync leaves threads to
 * everything else.
 */
export const fileSyncsAtOnce = 8
/**
 * Of those, of files above `receiveSyncBytesMin`, which have two under way at a time: four uploads took all places
 * (measured with syncs of 2 s: 1.8 s for a small file, which has places left now).
 */
export const largeFileSyncsAtOnce = 6

/** Repositories that upkeep looks at together: a millisecond on SQLite. */
export const repositoriesPage = 500

/** Database, in detail: pauses before a transaction is tried again grow between these two. */
export const transactionPauseFirstMs = 2
export const transactionPauseLongestMs = 500
/** Longest pause between looks at a lock that another process holds. */
export const sqliteLockPauseMs = 20
/** Readers of SQLite wait this long for the moment in which another process restarts the log. */
export const sqliteBusyTimeoutMs = second
/** Snapshots at once on SQLite: each has a connection of its own. */
export const sqliteSnapshotsAtOnce = 4
/**
 * Pages of a large database that a connection of SQLite keeps in memory: the upper floors of some twenty indexes and
 * what is asked for most. With SQLite's own 2 MiB, a tenth of a small download is the reading of pages again. A process
 * has two connections that work all the time; snapshots come and go.
 */
export const sqlitePagesKeptBytes = 24 * MiB
/** Compiled statements kept per connection of SQLite. */
export const sqliteStatementsKept = 256
/**
 * Frames (pages of 4 KiB) of SQLite's log that wait before a thread copies them into the database file: 4 MiB, so that
 * its two syncs serve hundreds of commits.
 */
export const sqliteLogCopyFrames = 1_000
/** Frames after which the log begins anew: 32 MiB, which the next start reads in a fraction of a second. */
export const sqliteLogRestartFrames = 8_192
/**
 * The log's file keeps this length when it begins anew: writing over what is there syncs faster than making it longer.
 */
export const sqliteLogKeptBytes = 32 * MiB
/** Length of the log from which a process looks after it in a thread: those that write less do without. */
export const sqliteLogThreadBytes = MiB
/** Pause between two looks at the log: while there is something to do, and else. */
export const sqliteLogLookBusyMs = 50
export const sqliteLogLookMs = second
/** What waits to be copied is not left longer than this when nobody writes. */
export const sqliteLogIdleMs = 10 * second
/** Tries of beginning anew in one turn, while a reader of a moment is in the way; then others get their turn. */
export const sqliteLogRestartTries = 3
/** How long it waits for the writer of another process meanwhile: a transaction takes milliseconds. */
export const sqliteLogBusyMs = 100
/** Pause between two turns when readers are in the way for longer. */
export const sqliteLogBlockedMs = second
/** Bytes of a log read and written at a time at the start. */
export const sqliteLogRenewBytes = MiB

/**
 * PostgreSQL. Connections of a process, 18 in all: changes that wait for a lock must not keep reads waiting, nor upkeep
 * either of them, nor any of these the question whether the database answers.
 */
export const postgresChangesMax = 8
export const postgresReadsMax = 5
export const postgresPatientMax = 4
export const postgresProbesMax = 1
/**
 * A transaction in which nothing happens is ended by the server: its process stands still, and others wait for its
 * locks. Ours contain SQL alone, so milliseconds pass between statements; this leaves room for a machine that is short
 * of processors.
 */
export const postgresIdleInTransactionMs = 4 * second
/** Longer than that, so that whoever waits behind a process that stands still gets the lock instead of a 503. */
export const postgresLockMs = 6 * second
/** The longest statement of a request; all of them take milliseconds, and a commit what the server's disk takes. */
export const postgresStatementMs = 8 * second
/** Without an answer for this long the server has fallen silent, for it should have cancelled the statement before. */
export const postgresSilenceMs = 9 * second
/** Until a question whether the database answers is given up. A balancer asks every few seconds. */
export const postgresProbeMs = 2 * second
/** Bounds of what takes long by its nature: migrations, moving, checks, upkeep. */
export const postgresPatientStatementMs = hour
export const postgresPatientLockMs = minute
/** An export writes files between two statements of its snapshot, which holds no lock that others wait for. */
export const postgresSnapshotIdleMs = 10 * minute
/**
 * How often somebody who is patient asks whether the database still answers others, and how often in vain before giving
 * up.
 */
export const postgresPatientLookMs = 10 * second
export const postgresPatientLooksInVain = 2
/** Until the system asks an idle connection whether the other side is there. */
export const postgresKeepAliveMs = 10 * second

/**
 * Versions of a range that are all read to find the one promoted last, in a fraction of a millisecond: as many as a
 * major version has that was long in use, whose promotions may lie far back. One of more is met sooner along the
 * promotions.
 */
export const promotedVersionsReadMax = 256

/** Object store (S3). */
/** A part of an upload is kept in memory up to here, so that it can be verified by the store and sent again. */
export const objectPartBytes = 8 * MiB
/** Bytes of such parts in the whole process: sixteen full ones. Senders wait beyond it. */
export const objectPartBytesHeldMax = 16 * objectPartBytes
/** S3 fixes these three: parts of an upload, bytes of one request or copied part, bytes of every part but the last. */
export const objectPartsMax = 10_000
export const objectRequestBytesMax = 5 * GiB
/** Bytes that the store copies in one step; small enough that a step takes seconds. */
export const objectCopyBytes = 256 * MiB
/** Copies of one object, and deletions, at once. */
export const objectRequestsAtOnce = 4
/** Connections to the store; each transfer that is not held in memory needs one of its own. */
export const objectStoreConnectionsMax = 512
export const objectStoreConnectMs = 5 * second
/** Until an answer begins; no request is tried again after this long either. */
export const objectStoreAnswerMs = 30 * second
/** Without a byte in either direction; also a part from memory, which has 8 MiB. */
export const objectStoreIdleMs = minute
/** Until the store has copied a piece or put an object together, which it does before it answers. */
export const objectStoreWorkMs = 5 * minute
/** What an answer has in memory, the bytes of objects apart: a page of a thousand keys, each letter of them escaped. */
export const objectAnswerBytesMax = 16 * MiB
/** Pages without a key that a listing may have in a row. */
export const emptyPagesMax = 100
/** Tries of a request, and the pauses between them, which double and are shortened by chance. */
export const objectStoreTriesMax = 4
export const objectStorePauseFirstMs = 100
export const objectStorePauseLongestMs = 2 * second
/** New requests for the rest of a download that was cut, without a byte between them. */
export const objectStoreResumesMax = 3
/**
 * Names of uploads that stores give: the longest known has some 350 characters; a place holds 1,024 with its digest.
 */
export const objectUploadNameMaxCharacters = 800

/** Export and import: rows read at a time, fewer of tables whose rows may have a megabyte each. */
export const exportPage = 1_000
export const exportPageOfLongRows = 16
/**
 * Rows in one file of an export, and characters after which another begins: a file is in memory whole, read and
 * written.
 */
export const exportPieceRows = 10_000
export const exportPieceCharacters = 8 * MiB
/**
 * The text of such a file, with its longest row (a manifest whose every character is escaped) and all of four bytes.
 */
export const exportPieceBytesMax = 64 * MiB
/** The list of files: 160 bytes each, for some billion rows. */
export const exportManifestBytesMax = 64 * MiB
/** Blobs that are copied at once. */
export const exportBlobsAtOnce = 4
/**
 * What an export keeps is read again by the day, one part in so many: all of it by a refresh each night within a month.
 * A prime, so that one each week gets around as well.
 */
export const exportReadAgainDays = 29
/** Blobs that an import stores at once: each waits for the disk most of the time, and nobody else is there yet. */
export const importBlobsAtOnce = 16
/** Blobs below this size are stored whole, out of memory. */
export const importWholeBytes = MiB
/** An import remembers how far it is after so many blobs or bytes; after a crash it reads what came later again. */
export const importBlobsBatch = 256
export const importBytesBatch = GiB
/** Values in one statement, which all engines take. */
export const importValuesMax = 30_000
/** Pause between two lines that tell how far an export or import is. */
export const progressEveryMs = 2 * second

/**
 * One in so many tokens written to the index of search on SQLite makes its writer merge so many pages (of 4 KiB):
 * measured, 3 ms at 550,000 files, for about every eighth file.
 */
export const searchMergeTokens = 2_000
export const searchMergePages = 32
/** Tokens that the doctor looks for at once in the index of search on SQLite: some megabytes of what it answers. */
export const searchTokensCheckedAtOnce = 50_000

/**
 * Memory of PostgreSQL's server while it makes the index of search at the end of an import, several times its usual 64
 * MiB.
 */
export const tokenIndexMemoryKiB = (256 * MiB) / 1024

/** Database. */
export const transactionAttemptsMax = 10
/** Writers that may wait for SQLite's one writer; beyond it 503 rather than minutes of waiting. */
export const writersWaitingMax = 10_000
export const databaseConnectMs = 5 * second

/**
 * The largest file that may be kept in the database. Not beyond `smallDownloadBytes`: clients are sent to the store for
 * what is larger.
 */
export const inlineBytesMax = 64 * KiB
export const inlineBytesDefault = 16 * KiB

/**
 * Room that rows have left in the file of a database stays there for those that come: so much, or so much of the file.
 * What is beyond goes back to the disk, in steps for which writers wait some milliseconds, with a pause behind each.
 */
export const databaseFreeBytesKept = 16 * MiB
export const databaseFreeShareKept = 0.1
export const databaseGivenBackAtOnce = MiB
export const databaseGivesBackEveryMs = 50
export const databaseGivesBackRunMs = 5 * minute
