import { GiB, second } from './units.ts'

/** Bounds of admission: what one caller may take of what all share. See also `limits.ts`. */

/**
 * Uploads under way of one caller, sessions and requests: a build machine that sends a hundred files at once is served, and
 * what they say of themselves (130 KiB each at most) stays below 13 MiB.
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
/** Of those, of one caller: half, so that slow ones of one leave as many places to the others. */
export const uploadBodiesPerCaller = 64
/** Waiting to be received; beyond it 503 rather than minutes of waiting. A connection and some kilobytes each. */
export const uploadBodiesWaitingMax = 1_000
export const uploadBodyWaitMs = 30 * second

/**
 * Wrong tries that are free from where an account signed in lately, from all such networks together: with one more from each of
 * four such networks, and those from elsewhere, fewer than 20 in a row; for the address fewer than 100.
 */
export const signInFreeFailuresPerKnownAccount = 6
export const signInFreeFailuresPerKnownAddress = 35
/** Registrations from an address before they have to pause. */
export const registrationsFreePerAddress = 60
/** Places in a line of passwords for one account from one network, and for all names that one network tries. */
export const passwordHashesWaitingPerSubjectMax = 64
export const passwordHashesWaitingPerNetworkMax = 100
/** Of so many accounts and networks it is remembered when they had their last turn; a megabyte for each of three lines. */
export const passwordTurnsRememberedMax = 10_000

/** Values in a body up to which all its faults are looked for, in a millisecond or two; of a longer one the first is told. */
export const problemValuesMax = 2_000
