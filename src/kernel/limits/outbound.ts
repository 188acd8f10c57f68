import { KiB, second } from '../units.ts'

/** Bounds of requests to addresses that people typed. */

/** Requests of one door at once, and of those to one origin; others wait, and that counts as their time. */
export const outboundAtOnceMax = 64
export const outboundAtOncePerOriginMax = 16
/** Connections to one origin that are kept for the next request, and how long: as many as may be used at once. */
export const outboundKeptPerOriginMax = 16
export const outboundKeptMs = 20 * second
/** Until a connection stands, with its TLS. */
export const outboundConnectMs = 8 * second
/**
 * Names that are looked up at once: as many as there may be receivers of webhooks, so that none waits for a name of
 * another that nobody answers for. Each takes a thread for as long as the system waits for it, of which names never get
 * more than half.
 */
export const outboundLookupsAtOnceMax = 16
/** Head of an answer, and trailers: what our own listener takes of requests. */
export const outboundHeadBytesMax = 16 * KiB
/** Answers before the answer (1xx) that are passed over. */
export const outboundEarlyAnswersMax = 8
/** Redirects that anybody may ask to be followed. */
export const outboundRedirectsMax = 5
export const outboundUrlMaxCharacters = 2_048
/**
 * How long a sender of a body may keep us waiting, counted together: each byte earns time for the next, at the slowest
 * pace, and so much can be saved. One that trickles is done with after it.
 */
export const outboundPatienceMs = 30 * second
export const outboundSlowestBytesPerSecond = 4 * KiB
/** What is left of a body is read so far and so long, for the connection's sake; beyond it the connection is cut. */
export const outboundLeftBytesMax = 4 * KiB // spec
export const outboundLeftMs = second
