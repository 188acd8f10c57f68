import { GiB, KiB, MiB, second } from '../units.ts'

/**
 * Bounds of connections and of requests before their operation is known. As everywhere in this folder each bound bears
 * its unit in its name and its reason beside it; those that the specification fixes are marked "spec", the others are
 * ours to tune.
 */

export const connectionsMax = 10_000
/** Of one network: a large office behind one address, and never all there are. */
export const connectionsPerNetworkMax = 2_500
/** Of all, for those who ask how the service is when the others are in use. */
export const connectionsReserved = 100
/**
 * How long who has come alone is left its place for its request to come: some round trips to the other end of the
 * world.
 */
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

/** How long requests begin in one round of the event loop while others wait: two or three of them do. */
export const roundMs = 0.5
/**
 * So many begin in any case, as they come and of those that wait: on a busy machine a moment is over before anything
 * was done, and whoever waits here does not stand in the lines that know who goes first (measured with downloads of
 * four classes).
 */
export const startsInAnyRound = 4
/** And how many of those that wait at most, in each of which all that follows from it at once is done. */
export const startsPerRound = 8

/** A body that nobody wants and that is no longer than this leaves its connection good for the next request. */
export const unwantedBodyBytesMax = 256 * KiB
/**
 * How long and how much of what nobody wants is read and dropped, so that the client gets to see the answer: as long as
 * nginx does, and as much as the largest part.
 */
export const lingerMs = 30 * second
export const lingerIdleMs = 5 * second
export const lingerBytesMax = GiB
/** Connections that are at that at once. */
export const lingeringMax = 256
/** A path of 1,024 four-byte characters, each byte percent-encoded, with room for the rest of the line and headers. */
export const requestHeadBytesMax = 32 * KiB

/** JSON bodies: the largest legal one (a full descriptor of four-byte characters, escaped) is under 512 KiB. */
export const jsonBodyBytesMax = 512 * KiB
/** A small body that is kept as it is sent: an image's manifest may have as much. */
export const bytesBodyMax = 4 * MiB
/** All of them that come or are worked with, together: sixty-four of the largest, or all that ordinary ones need. */
export const heldBodiesBytesMax = 256 * MiB
/** Invalid fields named in one answer. */
export const problemDetailsMax = 20

/** All of a JSON body must be here by then. */
export const jsonBodyDeadlineMs = 30 * second

/** Request budget: generous by default, with as much saved up as this many seconds bring. */
export const requestsPerSecondDefault = 20_000
export const budgetSeconds = 2
/** Callers whose buckets are kept; the one that came longest ago is forgotten, which fills its bucket. */
export const budgetCallersMax = 100_000

/** Query parameters that are parsed; no operation has nearly as many. */
export const queryParametersMax = 64

/**
 * Values in a body up to which all its faults are looked for, in a millisecond or two; of a longer one the first is
 * told.
 */
export const problemValuesMax = 2_000

/** Seconds that a browser keeps the icon of our pages: a day, since it changes with releases if ever. */
export const iconSeconds = 86_400

/** Seconds that a browser keeps a file of the console whose name bears a digest of its content: a year. */
export const consoleFileSeconds = 31_536_000

/** Characters of a path that are logged; the longest names of our own fit. */
export const loggedPathCharactersMax = 1_024
/**
 * Lines a minute about requests that were refused, or whose callers nobody knows: of one network, one caller, or one
 * account whose password is tried from a network, as many as somebody reads who looks for a reason; of all networks, of
 * all callers and of all accounts, some two megabytes each. What is beyond is counted, and left out.
 */
export const countedLinesEach = 60
export const countedLinesMax = 6_000
