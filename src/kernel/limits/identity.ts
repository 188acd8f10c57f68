import { day, hour, MiB, minute, second } from '../units.ts'

/** Bounds of accounts, passwords, sessions, tokens, links, groups and service accounts. */

/** Credentials and sessions. */
export const credentialMinCharacters = 32 // spec
export const credentialMaxCharacters = 512 // spec
export const sessionLifetimeMs = 12 * hour // spec
export const sessionsPerAccountMax = 32 // spec
/** Sessions that the command line keeps, one an address: as many services as somebody works with, and some more. */
export const signInsKept = 32
/** How long the holder of an expired session is told so, before its row is forgotten. */
export const endedSessionsKeptMs = 7 * day
export const passwordMinCharacters = 12 // spec
export const passwordMaxCharacters = 128 // spec
/** Personal tokens. */
export const personalTokensActiveMax = 50 // spec
export const personalTokenDaysDefault = 90 // spec
export const personalTokenDaysMax = 365 // spec
/** Long enough before its end for whoever is away for a week. */
export const tokenEndsSoonMs = 14 * day
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
/** Signatures of links and passes that a process remembers as good; some 300 bytes each. */
export const signaturesKeptMax = 4_096
/**
 * A pass. Clients ask for one when the last one ends, and stand at least a minute; shorter than `lastUsedEveryMs`, so
 * that asking for it is when a personal token was last used.
 */
export const passSeconds = 300
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
/**
 * At once at most, and one core is left alone: each takes 19 MiB and one thread of the pool; two leave it free for
 * files.
 */
export const passwordHashesAtOnce = 2
/** Waiting for their turn; beyond it sign-in answers 503 rather than queueing for minutes. */
export const passwordHashesWaitingMax = 200

/**
 * Failed sign-ins to an account that the security audit tells of one by one, before it tells of those only that double
 * them.
 */
export const toldFailuresPerAccount = 4

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
/**
 * Policies and bindings whose meaning a process remembers, in characters of their text; the largest pair has 60,000.
 */
export const bindingsRememberedCharacters = 4 * MiB
export const delegationsPerKeyMax = 64 // spec
export const activeKeysMax = 3 // spec
export const pendingKeysMax = 2 // spec
export const keyActivationMs = 15 * minute // spec
export const keyDaysDefault = 90 // spec
export const keyDaysMax = 365 // spec
export const rotationOverlapMs = 24 * hour // spec
export const serviceAccountPageMax = 50 // spec

/**
 * Wrong tries that are free from where an account signed in lately, from all such networks together: with one more from
 * each of four such networks, and those from elsewhere, fewer than 20 in a row; for the address fewer than 100.
 */
export const signInFreeFailuresPerKnownAccount = 6
export const signInFreeFailuresPerKnownAddress = 35
/** Registrations from an address before they have to pause. */
export const registrationsFreePerAddress = 60
/** Places in a line of passwords for one account from one network, and for all names that one network tries. */
export const passwordHashesWaitingPerSubjectMax = 64
export const passwordHashesWaitingPerNetworkMax = 100
/**
 * Of so many accounts and networks it is remembered when they had their last turn; a megabyte for each of three lines.
 */
export const passwordPartiesRememberedMax = 10_000
/** Of a password that a command makes up: 144 bits, 24 characters to copy. */
export const generatedPasswordBytes = 18

/** Characters of the name of a group, as its pattern says: the names that commands make of ids are cut to fit. */
export const groupNameMaxCharacters = 64
