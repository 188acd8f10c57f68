import { KiB, MiB } from '../units.ts'

/** Bounds of how clients of the npm registry sign in. */

/** Somebody goes to a browser, finds the password and comes back; clients ask as long. */
export const npmSignInSeconds = 600
/** Between two questions whether a person has confirmed: quick enough for who waits. */
export const npmSignInAskAgainSeconds = 2
/** What the page sends: a name of 256 and a password of 1,024 characters, each byte of them written as three. */
export const npmSignInFormBytesMax = 16 * KiB
/** What may be typed as a name is not told apart from what may exist. */
export const npmNameTypedMaxCharacters = 256
export const npmPasswordTypedMaxCharacters = 1_024
/** Names, passwords and what clients send beside them. */
export const npmSentJsonBytesMax = 64 * KiB
/** What an audit asks about: names and versions of 10,000 packages, of which 3,000 are many. */
export const npmAuditBytesMax = MiB
/** Its names and versions, and what stands between them. */
export const npmAuditPartsMax = 60_000
/** The same unpacked. */
export const npmAuditUnpackedBytesMax = 2 * MiB
