import { day, GiB, hour, KiB, MiB, minute } from '../units.ts'

/** Bounds of Git LFS. */

/** Objects that one batch may ask about, and its body. Clients ask about a hundred. */
export const batchObjectsMax = 1_000
export const batchBytesMax = 2 * MiB
/** Ways of transfer that a client may offer: there are some five. */
export const batchTransfersMax = 32
/** Body of any other request of the protocol: a path is the longest thing in it. */
export const lfsBodyBytesMax = 64 * KiB
/** How long the addresses of a batch are good: clients begin each transfer within it, and ask again afterwards. */
export const addressSeconds = 3_600
/**
 * From here on an object is large: it is worth a request more, to see that it came, and one that goes on where another
 * was cut.
 */
export const largeObjectBytes = MiB
/** An upload that goes on where it was cut is waited for so long after its last byte. */
export const resumedUploadMs = day
/** Such uploads that one caller may have open, and those for one object that are looked at. */
export const resumedUploadsPerCallerMax = 1_000
export const resumedUploadsOfObjectMax = 16
/** When an object was last asked for is remembered as exactly as that: not every batch writes. */
export const lastUseEveryMs = hour
/** What stands behind the repository in the address of a Git repository. */
export const subPathMaxCharacters = 255
/** Deletions of one object that are looked at for one that can be undone: the last one can, unless others race. */
export const deletedOfObjectMax = 16
/** A path that is locked; locks of a repository, which are listed by pages of so many. */
export const lockPathMaxCharacters = 4_096
export const locksMax = 10_000
export const locksPageDefault = 100
export const locksPageMax = 1_000

/** `svc lfs import`: objects that are asked about at once, from how many bytes on no more, and sent at once. */
export const importBatchMax = 100
export const importBatchBytesMax = GiB
export const importAtOnceMax = 8
/** What another server says of a batch: some 2 KiB for each object, of which the addresses are most. */
export const importAnswerBytesMax = 4 * MiB
/** Until another server begins to answer: some look an object up in a store of their own first. */
export const importAnswerMs = minute
/** Places that another server may send a client on to, from the address that it named. */
export const importRedirectsMax = 3
