import { day, GiB, hour, KiB, MiB, minute, second, TiB } from './units.ts'

/**
 * Every bound of the service, with its unit in its name and its reason beside it (I9).
 * Numbers that the specification fixes are marked "spec"; the others are ours to tune.
 * Those of the engines stand in `engine-limits.ts`, what one caller may take in `admission-limits.ts`.
 */
export const dayMs = day

/** Credentials and sessions. */
export const credentialMinCharacters = 32 // spec
export const credentialMaxCharacters = 512 // spec
export const sessionLifetimeMs = 12 * hour // spec
export const sessionsPerAccountMax = 32 // spec
/** How long the holder of an expired session is told so, before its row is forgotten. */
export const endedSessionsKeptMs = 7 * day
export const passwordMinCharacters = 12 // spec
export const passwordMaxCharacters = 128 // spec
/** Personal tokens. */
export const personalTokensActiveMax = 50 // spec
export const personalTokenDaysDefault = 90 // spec
export const personalTokenDaysMax = 365 // spec
export const personalTokenNameMaxCharacters = 64 // spec
/** Shown in lists; the rest of the secret is 200 bits more. */
export const personalTokenPrefixCharacters = 12
/** `lastUsedAt` moves at most this often: a busy script must not write to the database on every request. */
export const lastUsedEveryMs = 10 * minute
/** Ended tokens are listed this long. */
export const endedTokensKeptMs = 30 * day
/** Download links. */
export const linkTtlSecondsMin = 60 // spec
export const linkTtlSecondsMax = 86_400 // spec
export const linkTtlSecondsDefault = 3_600 // spec
/** A process signs with one key this long; then it makes another, while the links of the old one live out. */
export const linkKeySignsMs = 7 * day
/** Signatures of links that a process remembers as good; some 300 bytes each. */
export const linkSignaturesKeptMax = 4_096
/** How long the holder of an expired link is told so, before its key is forgotten. */
export const endedLinkKeysKeptMs = 7 * day
export const accountsMax = 1_000 // spec
export const selfRegisteredAccountsMax = 900 // spec
export const groupsMax = 100 // spec
export const membershipsMax = 10_000 // spec
export const grantsMax = 10_000 // spec
/** Keys in the keys file: read whole at start and kept in memory. */
export const fileKeysMax = 10_000
/** The keys file itself; ten thousand keys with a few repositories each fit well. */
export const keysFileBytesMax = 16 * MiB

/** Password hashing (argon2id, OWASP's second recommendation: 19 MiB, two passes, one lane). */
export const passwordHashMemoryKiB = 19 * 1024
export const passwordHashPasses = 2
export const passwordHashBytes = 32
/** At once at most, and one core is left alone: each takes 19 MiB and one thread of the pool; two leave it free for files. */
export const passwordHashesAtOnce = 2
/** Waiting for their turn; beyond it sign-in answers 503 rather than queueing for minutes. */
export const passwordHashesWaitingMax = 200

/** Sign-in backoff: wrong tries that are free, then pauses that double up to the longest. */
export const signInFreeFailuresPerAccount = 8
export const signInFreeFailuresPerAddress = 60
export const signInBackoffFirstMs = 2 * second
export const signInBackoffMaxMs = 15 * minute
/** A throttle without a new failure for this long starts from zero. */
export const throttleForgottenAfterMs = 24 * hour

/** Service accounts and keys. */
export const serviceAccountsMax = 1_000 // spec
export const bindingsMax = 64 // spec
/** Policies and bindings whose meaning a process remembers, in characters of their text; the largest pair has 60,000. */
export const bindingsRememberedCharacters = 4 * MiB
export const delegationsPerKeyMax = 64 // spec
export const activeKeysMax = 3 // spec
export const pendingKeysMax = 2 // spec
export const keyActivationMs = 15 * minute // spec
export const keyDaysDefault = 90 // spec
export const keyDaysMax = 365 // spec
export const rotationOverlapMs = 24 * hour // spec
export const serviceAccountPageMax = 50 // spec

/** Names and texts. */
export const artifactNameMaxCharacters = 240 // spec
export const labelMaxCharacters = 64 // spec
export const labelsMax = 32 // spec
export const metadataEntriesMax = 32 // spec
export const metadataValueMaxCharacters = 1024 // spec
export const collectionsMax = 32 // spec
export const stagesMax = 16 // spec
export const assetPathMaxCharacters = 1024 // spec
/** A path of 1,024 four-byte characters, each byte percent-encoded, with room for the rest of the line and headers. */
export const requestHeadBytesMax = 32 * KiB

/** Revisions are 32-bit; the last one cannot be expected, only reached. */
export const revisionMax = 2_147_483_647 // spec
export const expectedRevisionMax = 2_147_483_646 // spec

/** Pages. */
export const pageMax = 100 // spec
export const pageDefault = 50 // spec
export const assetListingMax = 1_000 // spec
export const assetHistoryPage = 50 // spec

/** Change feeds. How long a request may wait for the next change. */
export const changesWaitMaxSeconds = 30
/** Requests that wait in one process, and of one caller: they cost a socket and some kilobytes each. */
export const changesWaitingMax = 1_000
export const changesWaitingPerCallerMax = 100
/** How often a process looks for changes that others made, while somebody waits: one query whoever waits for what. */
export const changesLookEveryMs = 250

/** Journals and the security audit. Two and five years, for those who never think of it. */
export const journalRetentionDaysDefault = 730
export const securityAuditRetentionDaysDefault = 1_825
/** A day at least, so that a follower that is down over lunch loses nothing. */
export const retentionDaysMin = 1
export const retentionDaysMax = 36_500
/** Lines forgotten in one transaction: some ten milliseconds under the locks of rows that nobody writes any more. */
export const retentionBatch = 500
export const retentionEveryMs = hour

/** Packages. */
export const packageNameMaxCharacters = 128 // spec
export const packageGroupMaxCharacters = 128 // spec
/** What node-semver takes as well. */
export const packageVersionMaxCharacters = 256
export const packageRangeMaxCharacters = 256 // spec
export const packageManifestBytesMax = MiB
/** Objects and arrays within each other in a manifest: people nest five, and writing it out again takes a stack. */
export const packageManifestDepthMax = 64
/** Manifests that one page carries; a page with more is cut short and has a `next`. */
export const packagePageManifestBytesMax = 4 * MiB
/** Files in a package: the largest known have some ten thousand. Their names are kept while the archive is checked. */
export const archiveEntriesMax = 100_000
/** Folders that their names speak of, of which a single deep path has hundreds. */
export const archiveFoldersMax = 100_000
/** The list of files in an archive: 160 bytes for each of the most that there may be. */
export const archiveDirectoryBytesMax = 16 * MiB
/** As long as the paths of files here. */
export const archiveNameBytesMax = 1_024
/** Bytes of an archive that are in memory while it is checked. */
export const archiveWindowBytes = 256 * KiB
/** Entries that are looked at before others get their turn; they take some three milliseconds. */
export const archiveEntriesAtOnce = 250
/** Archives that are checked at once: each may take some 50 MiB for its names (measured). The rest waits in line. */
export const archivesAtOnce = 2
export const archivesWaitingMax = 100
/** Deflate cannot do better than 1 in 1,032 (RFC 1951: 258 bytes for two bits), and a few bytes at the ends. */
export const deflateRatioMax = 1_032

/** Search. A needle longer than the longest text that it could be a part of finds nothing. */
export const searchNeedleMaxCharacters = 1024
/** Pieces of a needle that the index is asked for: more of them cost more than the few false hits that they would spare. */
export const searchGramsMax = 12
export const searchSteps = {
  /** Entries that one step looks at, from the first, which a common needle needs, to the longest (some 15 ms). */
  rowsFirst: 256,
  rowsMax: 4_096,
  /** While one in so many matches, walking is all that is needed; else the inverted index is asked. */
  walkRowsPerHit: 128,
  /** An answer of the inverted index that is longer is not fetched (some 10 ms). */
  indexRowsMax: 2_000,
  /** Walking goes no further than this (some 30 ms) before the inverted index has to sort all that it finds. */
  walkRowsMax: 32_768,
} as const

/** Uploads. */
export const uploadLifetimeMs = 7 * day // spec
export const uploadDeadlineSecondsDefault = 1_800 // spec
export const objectBytesMax = 10_737_418_240_000 // spec: 10,000 GiB
export const partBytesMin = 8 * MiB // spec
export const partBytesMax = GiB // spec
export const partsMax = 10_000 // spec
/** How long a holder of an upload's turn may be silent before another may take it. Renewed at a third of it. */
export const uploadTurnMs = 30 * second
/** Turns that a process remembers to have left without being able to give them back; more than lapse in a busy half minute. */
export const leftTurnsMax = 1_000
/** A body that sends nothing for this long is given up. */
export const transferIdleMs = 60 * second
/** What comes in and is not hashed yet, of all transfers together; a power of two. */
export const hashRingBytes = 2 * MiB
/** Files and parts up to here are hashed on the event loop, in a tenth of a millisecond. */
export const hashedHereBytesMax = 256 * KiB
/** Running hashes of uploads in parts that a process keeps; the hash of one that fell out is made again from its bytes. */
export const runningHashesMax = 1_000
/** Rows of parts that are looked at together. */
export const partsPage = 1_000
/** What completing an upload may read within the request that asks for it (a second or so); the worker reads more. */
export const completionInlineBytesMax = 256 * MiB
/** How long such a request waits for the worker before it answers that it takes longer. */
export const completionWaitMs = 20 * second

/** Jobs. */
export const openJobsPerCallerMax = 100 // spec
export const openJobsMax = 10_000 // spec
export const jobAttemptsMax = 5 // spec
/** Pauses between attempts triple from the first: some three minutes in all, enough for a restart of what failed. */
export const jobFirstPauseMs = 5 * second
/** How long a worker may be silent before another takes its job over. Renewed at a third of it. */
export const jobLeaseMs = 30 * second
/** Workers look for jobs this often; whoever makes one in the same process wakes them. */
export const jobsEveryMs = second
/** Jobs of one kind that a process runs at once: they read disks and hash. */
export const jobsAtOnce = 2
/** How long the record of an ended job can be read. */
export const endedJobsKeptMs = 7 * day

/** How far clocks may be apart before a lease that ends later than it could is called stuck. */
export const leaseToleranceMs = 5 * minute
/** What scrubbing reads a second unless told otherwise: a disk's fraction, and a terabyte in six hours. */
export const scrubMiBPerSecondDefault = 50

/** The queue's length in metrics is counted up to here. */
export const reclaimQueueCountedMax = 100_000
/** How long reclaim is held back by somebody who went silent. Renewed at a quarter of it. */
export const reclaimHoldMs = 2 * minute
/** How long a deleted file is known by its id after its bytes stopped being reserved. */
export const deletedArtifactsKeptMs = 30 * day
export const graceHoursMax = 8_760
/** What stands in the way of a deletion is told up to here. */
export const blockersToldMax = 4 // spec
/** Marks that keep one file. A build that ten systems run on has ten; nobody reads a thousand. */
export const referencesPerArtifactMax = 1_000

/** Attachments of a build, and revisions of them in one page of their history. */
export const attachmentsMax = 32 // spec
export const attachmentNameMaxCharacters = 240 // spec
export const attachmentDescriptionMaxCharacters = 512 // spec
export const attachmentHistoryPage = 20 // spec
/** Revisions of attachments that are forgotten in one transaction: some three thousand rows. */
export const attachmentRevisionsForgotten = 100

/** Stages. */
export const stagesPerArtifactMax = 16 // spec
export const stageCommentMaxCharacters = 1_024 // spec
/** Files that one question about stages may name. */
export const stageIdsMax = 100 // spec
/** Storage policies. */
export const keepLastMax = 100_000 // spec
export const channelsMax = 32 // spec
export const protectedLabelsMax = 32 // spec
export const minAgeHoursMax = 87_600 // spec
export const intervalMinutesMax = 10_080 // spec
export const warningPercentMin = 1 // spec
export const warningPercentMax = 98 // spec
export const criticalPercentMin = 2 // spec
export const criticalPercentMax = 99 // spec
/** Shares of the quota from which usage is called by these names, until a policy says otherwise. */
export const quotaWarningPercent = 80
export const quotaCriticalPercent = 95
/** What a run of a policy, or one call of retention, deletes at most. */
export const retentionItemsMax = 100 // spec
/** Versions that are looked at together when groups of them are counted: some milliseconds on either engine. */
export const versionsCountedPage = 2_000
/** Groups whose ends of what is kept are remembered within one look: more than one batch of versions can belong to. */
export const linesRememberedGroups = 1_000
/** Files that a page of retention candidates looks at before it ends early with a `next`. */
export const candidatesLookedAtMax = 10_000
/** Policies whose time has come that are looked up together. */
export const duePoliciesPage = 100

/** Storage events that are kept. */
export const storageEventsPerRepositoryMax = 1_000 // spec
export const storageEventsMax = 20_000 // spec
export const storageEventsPage = 100 // spec
export const storageEventCodeMaxCharacters = 96 // spec
export const storageEventDetailsMax = 16 // spec
/** Repositories that are told in their events that bytes in them have rotted, for each such content. */
export const rotToldRepositoriesMax = 100

/** Reserved ahead for a body whose length is not declared; grows by doubling, so that 10 TB needs some 20 steps. */
export const undeclaredReservationBytes = 16 * MiB

/** Downloads. */
export const downloadSlotsDefault = 64
export const downloadSlotsMax = 10_000
/** How long a request without an id is held before it is told to come back. */
export const downloadWaitSecondsDefault = 30
/** What leaves in one piece needs no slot: a slot is for what keeps buffers and a disk busy. */
export const smallDownloadBytes = 64 * KiB
/** Files that are kept in memory once they were sent: the largest, and all together. */
export const smallFileBytesMax = 32 * KiB
export const smallFilesBytesMax = 8 * MiB
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
export const downloadTurnMs = 10 * second
/** The least that a client has to take or send while others wait for its place, in bytes per millisecond (64 KiB a second). */
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

/** Space. */
export const capacityBytesDefault = 10 * TiB // spec
export const freeSpaceReserveBytesDefault = GiB // spec
export const cleanupGraceHoursDefault = 24 // spec
/** How long one look at the disk's free space is believed. */
export const freeSpaceBelievedMs = second
/** Received bytes after which a transfer looks again whether the disk keeps its reserve. */
export const roomLookEveryBytes = 16 * MiB

/** Memory per transfer: two buffers of this size when sending, one when many are sent (measured best of 128 KiB to 1 MiB). */
export const readAheadBytes = 768 * KiB
/** Pieces that are given to the kernel in one turn of the event loop: a millisecond's worth, and then others get a look. */
export const piecesPerTurn = 4
/** Received bytes that may wait for the disk before the sender is paused. */
export const receiveBufferBytes = MiB
/** Received bytes after which a sync is started beside the transfer, so that the last one is short. */
export const receiveSyncEveryBytes = 64 * MiB
/** The same for a part, whose answer waits for the last one: the disk works while the part still comes. */
export const partSyncEveryBytes = 2 * MiB
/** Less than this is not worth a sync of its own. */
export const receiveSyncBytesMin = 512 * KiB

/** JSON bodies: the largest legal one (a full descriptor of four-byte characters, escaped) is under 512 KiB. */
export const jsonBodyBytesMax = 512 * KiB
/** Invalid fields named in one answer. */
export const problemDetailsMax = 20

/** All of a JSON body must be here by then. */
export const jsonBodyDeadlineMs = 30 * second

/** Request budget: generous by default, with as much saved up as this many seconds bring. */
export const requestsPerSecondDefault = 20_000
export const budgetSeconds = 2
/** Callers whose buckets are kept; the one that came longest ago is forgotten, which fills its bucket. */
export const budgetCallersMax = 100_000

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

/** Database. */
export const transactionAttemptsMax = 10
/** Writers that may wait for SQLite's one writer; beyond it 503 rather than minutes of waiting. */
export const writersWaitingMax = 10_000
export const databaseConnectMs = 5 * second

/** A dependency check is believed this long. */
export const readinessBelievedMs = second // spec

/** Upkeep: rows changed in one transaction, and the pause of its clock. */
export const upkeepBatch = 200
export const upkeepEveryMs = 15 * second
/** A staged file without a row is left alone this long: its row may not have been seen yet. */
export const stagingGraceMs = 10 * minute

/** Checks: rows read at a time, and findings of one kind shown, and rounds of mending, before something is clearly badly wrong. */
export const checkPage = 1_000
export const findingsMax = 100

/** Query parameters that are parsed; no operation has nearly as many. */
export const queryParametersMax = 64
