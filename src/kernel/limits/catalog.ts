/** Bounds of what is said of files: names, labels, revisions, pages, feeds, references, attachments, stages. */

/** Names and texts. */
export const artifactNameMaxCharacters = 240 // spec
export const labelMaxCharacters = 64 // spec
export const labelsMax = 32 // spec
export const metadataEntriesMax = 32 // spec
export const metadataValueMaxCharacters = 1024 // spec
export const collectionsMax = 32 // spec
export const stagesMax = 16 // spec
export const assetPathMaxCharacters = 1024 // spec
/** What a file is said to be: the longest registered one has some ninety characters, its parameters come beside it. */
export const mediaTypeMaxCharacters = 255

/** Revisions are 32-bit; the last one cannot be expected, only reached. */
export const revisionMax = 2_147_483_647 // spec
export const expectedRevisionMax = 2_147_483_646 // spec

/** Pages. */
export const pageMax = 100 // spec
export const pageDefault = 50 // spec
export const assetListingMax = 1_000 // spec
export const assetHistoryPage = 50 // spec
/** Paths that one look for the entries of a folder reads: few, since all of them may be in one folder below. */
export const folderLook = 16

/** Things of a format that are counted for a card: some tenths of a millisecond of the engine. */
export const countedOnCardsMax = 1_000

/** Change feeds. How long a request may wait for the next change. */
export const changesWaitMaxSeconds = 30
/** Requests that wait in one process, and of one caller: they cost a socket and some kilobytes each. */
export const changesWaitingMax = 1_000
export const changesWaitingPerCallerMax = 100
/** How often a process looks for changes that others made, while somebody waits: one query whoever waits for what. */
export const changesLookEveryMs = 250
/** Marks that keep one file. A build that ten systems run on has ten; nobody reads a thousand. */
export const referencesPerArtifactMax = 1_000

/** Lines of a journal that one page of a filtered audit looks at: some milliseconds of the engine. */
export const auditLinesLookedAt = 5_000

/** Attachments of a build, and revisions of them in one page of their history. */
/** What was said of a file, so many times back; a program that says something else every minute fills no disk. */
export const annotationRevisionsKept = 100
export const annotationHistoryPage = 20
export const attachmentsMax = 32 // spec
export const attachmentNameMaxCharacters = 240 // spec
export const attachmentDescriptionMaxCharacters = 512 // spec
export const attachmentHistoryPage = 20 // spec
/** Revisions of attachments that are forgotten in one transaction: some three thousand rows. */
export const attachmentRevisionsForgotten = 100

/** Revisions of a path that are forgotten in one transaction: some hundred lines of the journal at most. */
export const revisionsForgotten = 200

/** Stages. */
export const stagesPerArtifactMax = 16 // spec
export const stageCommentMaxCharacters = 1_024 // spec
/** Files that one question about stages may name. */
export const stageIdsMax = 100 // spec
