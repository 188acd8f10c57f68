import { day, GiB, hour, KiB, MiB, minute } from '../units.ts'

/** Bounds of Git LFS. */

/** Objects that one batch may ask about, and its body. Clients ask about a hundred. */
export const batchObjectsMax = 1_000
export const batchBytesMax = 2 * MiB
/**
 * What a body of the protocol may be made of. A thousand objects have 6,000 brackets, commas and colons; as many as
 * this of the worst take some five milliseconds.
 */
export const lfsPiecesMax = { count: 20_000, depth: 20 } as const
/**
 * Of a body of more it is said that it is not as it should be, and not where: to find that out takes ten times as long.
 */
export const explainedPiecesMax = { count: 1_000, depth: 20 } as const
/** Stored objects that the store is asked for before a push is told that they are there: clients ask for a hundred. */
export const batchLookedAtMax = 100
export const batchLooksAtOnce = 8
/** Room of the server is told to pushers in such steps: to the byte it would say what others store. */
export const roomToldBytes = GiB
/** Characters of a word that nobody knows here which come back in a message. */
export const echoedMaxCharacters = 100
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
/** Such uploads that one caller may have open, and to those of one object send at once. */
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
/** Bytes of paths in a page, and locks that are read for it at once: such a page takes some five milliseconds. */
export const locksPageBytes = 256 * KiB
export const locksReadAtOnce = 100

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
