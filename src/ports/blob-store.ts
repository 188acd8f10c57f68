import type { Sha256 } from '../kernel/digest.ts'
import type { ByteRange } from '../kernel/range.ts'
import type { BlobName } from './blob-name.ts'

/**
 * Where bytes live, named by their SHA-256 and a generation. The port is dumb: it stores, and trusts the name that it
 * is told. Hashing, verifying and deciding are the business of `content/`, its only caller: everything else goes
 * through `content/ingest.ts`, `content/serve.ts` and, to look into them, `content/stored-bytes.ts`.
 *
 * Every method may throw {@link BlobStoreUnavailable} (come back later) or {@link BlobStoreFull} (nothing is wrong but
 * space). Anything else that is thrown is a bug or a broken disk.
 */
export interface BlobStore {
  /**
   * Opens a private place to write to. Nothing that is written there can be read under any name before `publish`.
   * After a crash {@link listStaged} shows the place and {@link discardStaged} removes it.
   * Ids are UUIDs or alike, each used once: up to 64 lower-case letters, digits and inner hyphens. Throws a RangeError
   * for anything else. What the plan says, the bytes will keep to, or `publish` is never called: a store may put them
   * where they are to stay.
   */
  stage(id: string, plan: StagingPlan): Promise<StagedBlob>

  /**
   * For many blobs that are in memory, and that nobody refers to before all of them are durable. What they have in
   * common is made durable once. Asks nobody.
   */
  batch(): BlobBatch

  /**
   * Whether every part of an assembly can be read back before it is published. Where not, only those can that were
   * written with `readBack`, and the others have to be hashed while they come.
   */
  readonly readsParts: boolean

  /**
   * Begins a blob that comes in parts, over days, in any order, through any process. Answers the name of its place,
   * which the caller keeps: it is how {@link assembly} and {@link discardStaged} find it. Ids as for {@link stage}.
   */
  beginAssembly(id: string, plan: AssemblyPlan): Promise<string>

  /** The place of an assembly that was begun. Asks nobody. */
  assembly(place: string, plan: AssemblyPlan): Assembly

  /** A place for a blob that grows at its end. Ids as for {@link stage}; the id is its name. Asks nobody. */
  growing(id: string): GrowingBlob

  /**
   * The stored bytes of a range, in pieces of at most `limits.readAheadBytes`, read ahead of the consumer by one piece
   * at most. A piece is valid only until the next one is asked for: its memory is then used again. It must not be
   * written to. Opening happens before the promise resolves, so that a missing blob is known before anything is sent.
   * Whoever ends the iteration early must call `return()` (as `for await` does), which closes what is open. Whoever
   * knows how long the blob is says so in `blobBytes`: a small one is then fetched whole in one step, which is several
   * times cheaper, and another length is an error. A stored blob that ends within the range is always one. Throws
   * {@link BlobMissing} where no such blob is stored.
   */
  open(name: BlobName, range: ByteRange, blobBytes?: number): Promise<AsyncIterableIterator<Uint8Array>>

  /**
   * An address under which anyone may fetch the blob for so many seconds, as an attachment of that name and type;
   * ranges work there. Null where the store has no addresses. Asks nobody: whether the blob is there, the caller knows.
   */
  address(name: BlobName, as: AddressedAs): Promise<string | null>

  /**
   * The path of the blob's file below the folder of the store, for somebody else who sends it; null where the store has
   * no files. Throws {@link BlobMissing} where no such blob is stored, and another error where the file is not as long
   * as the blob: whoever sends it would not notice.
   */
  file(name: BlobName, blobBytes: number): Promise<string | null>

  /** Bytes of the stored blob, or null. */
  size(name: BlobName): Promise<number | null>

  /**
   * Removes a blob for good. True if it was there. Whoever gives up waiting for it may find that it happens all the
   * same, however late.
   */
  delete(name: BlobName): Promise<boolean>

  /** Every stored blob, in no promised order, without keeping them all in memory. */
  list(): AsyncIterable<StoredBlob>

  /**
   * Every place opened by {@link stage} or {@link beginAssembly} and neither published nor discarded, also those of
   * processes long dead. Everything that belongs to an assembly is listed under the place that {@link beginAssembly}
   * answered, and under no other, perhaps more than once: whoever sweeps keeps what somebody still works on by that
   * name.
   */
  listStaged(): AsyncIterable<StagedRemains>

  /**
   * Removes a staged place by the name that {@link listStaged} or {@link beginAssembly} gave it. Harmless when it is
   * gone.
   */
  discardStaged(place: string): Promise<void>

  /** What the store says that it belongs to: what {@link sign} wrote last, or null where nobody has. */
  owner(): Promise<string | null>

  /** Writes down what the store belongs to, durably, in place of what was there: up to 200 characters. */
  sign(owner: string): Promise<void>

  /** Room on the device, or null where the store has no such notion. */
  space(): Promise<Space | null>

  /**
   * Resolves when the store answers; throws {@link BlobStoreUnavailable} when it does not. Cheap enough for a readiness
   * probe.
   */
  probe(): Promise<void>
}

/** One place being written. Used by one caller at a time, in order: writes, then publish or discard. */
export interface StagedBlob {
  /**
   * Appends. The piece belongs to the store from now on: the caller must not change its memory again, since it may be
   * written long after this resolves. Resolves when the store can take more (backpressure): at most
   * `limits.receiveBufferBytes` and one piece wait for the disk. A failure of background work is thrown by the next
   * call.
   */
  write(piece: Uint8Array): Promise<void>
  /**
   * Makes the bytes durable and gives them their final name. When it resolves they survive a power cut (I3).
   * A blob that is there already is replaced by these same bytes in one step: readers never notice.
   * When it throws, the place can only be discarded.
   */
  publish(name: BlobName): Promise<void>
  /** Gives the place back. Harmless after publish. */
  discard(): Promise<void>
}

/** Blobs that are stored together: several puts at once, and `settle` when all of them have resolved. */
export interface BlobBatch {
  /**
   * Stores a blob whole. The bytes belong to the store from now on, as those of {@link StagedBlob.write} do. When it
   * resolves they are durable and have their name (I3), which a power cut may take from them until `settle`. When it
   * throws nothing is left of them. Ids as for {@link BlobStore.stage}.
   */
  put(id: string, name: BlobName, bytes: Uint8Array): Promise<void>
  /** When it resolves all of them survive a power cut. When it throws, nobody can tell of any; no second call can. */
  settle(): Promise<void>
}

/** What is known of the bytes before they come. */
export interface StagingPlan {
  /** What they will be published as, if that is known. */
  readonly name: BlobName | null
  readonly bytes: number | null
}

export const unplanned: StagingPlan = { name: null, bytes: null }

/** A blob in parts: all of `partBytes`, but for the last one, which is what remains. Never without bytes. */
export interface AssemblyPlan {
  readonly name: BlobName
  readonly bytes: number
  readonly partBytes: number
  /** Its parts were seen to have the digest of its name: a try that broke off may have published it. */
  readonly verified?: boolean
}

/**
 * A blob that is put together from parts. Whoever uses it keeps others from doing so at the same time, and remembers
 * the receipts of parts that are finished: an assembly knows nothing of parts itself.
 */
export interface Assembly {
  /** Opens a part to be written from its beginning, again if it was begun before. */
  writePart(index: number, options: PartOptions): Promise<StagedPart>
  /** The bytes of a finished part, as `open` gives those of a blob. {@link AssemblyLost} once they are gone. */
  readPart(part: FinishedPart): Promise<AsyncIterableIterator<Uint8Array>>
  /**
   * Makes the whole durable and gives it its final name, as {@link StagedBlob.publish} does. All parts are finished;
   * they come in order. The caller has verified that together they have the digest of its name (I3). What bears that
   * name and has another length is damaged, and gives way. A failure leaves the assembly as it was, unless the store
   * says {@link AssemblyLost}: then it cannot tell whether the blob has its name, and whoever wants to know reads it.
   */
  publish(parts: AsyncIterable<FinishedPart>): Promise<void>
  /** Whatever bears the final name by now keeps it through a power cut when this resolves. */
  settleName(): Promise<void>
}

/**
 * A blob of which neither name nor length is known before its last byte has come. It is stored in segments, all of
 * `appendedSegmentBytes` but for the last one; what is appended to a segment that is not full is written with it,
 * again. Whoever uses it keeps others from doing so at the same time, through whatever process, and remembers the
 * receipts.
 */
export interface GrowingBlob {
  /** Makes the place, before anything is written to it. */
  begin(): Promise<void>
  /** Opens a segment to be written from its beginning, again if it is there. It may be finished before it is full. */
  writeSegment(index: number, options: Pick<PartOptions, 'mayWrite'>): Promise<StagedPart>
  /** The bytes of a finished segment, as `open` gives those of a blob. {@link AssemblyLost} once they are gone. */
  readSegment(segment: Segment): Promise<AsyncIterableIterator<Uint8Array>>
  /** A segment that another try has taken the place of: nobody asks for it any more. */
  dropSegment(segment: Segment): Promise<void>
  /**
   * Makes the whole durable and gives it its final name, as {@link Assembly.publish} does. The segments come in order
   * and are `bytes` together, not nothing. What broken tries left behind them is no part of it.
   */
  publish(name: BlobName, bytes: number, segments: AsyncIterable<Segment>): Promise<void>
  /** As {@link Assembly.settleName}. */
  settleName(name: BlobName): Promise<void>
}

export interface Segment extends FinishedPart {
  readonly bytes: number
}

interface PartOptions {
  /** Asks for a part that {@link Assembly.readPart} can give. */
  readonly readBack: boolean
  /**
   * Asked right before every write to a place where a finished part may lie by then, since pieces wait there for the
   * disk: what it throws fails the part, and nothing more is written.
   */
  readonly mayWrite?: () => void
}

/** A part being written, by one caller, in order: writes, then finish or discard. */
export interface StagedPart {
  /** As {@link StagedBlob.write}. */
  write(piece: Uint8Array): Promise<void>
  /**
   * Resolves when the part survives a power cut. Gives what the store wants to be told again when the part is read or
   * published: up to 200 characters.
   */
  finish(): Promise<string>
  /**
   * Gives up, and after finish removes what nobody will ask for: so never once the receipt may have been recorded. What
   * is left all the same goes with the assembly.
   */
  discard(): Promise<void>
}

export interface FinishedPart {
  readonly index: number
  readonly receipt: string
}

/** What is said of a blob that is fetched at an address of the store's own, and for how long. */
export interface AddressedAs {
  readonly name: string
  readonly mediaType: string
  readonly seconds: number
}

export interface StoredBlob {
  readonly name: BlobName
  readonly bytes: number
}

export interface StagedRemains {
  /**
   * What {@link BlobStore.discardStaged} takes: the id that the place was opened with, unless the store made a name.
   */
  readonly place: string
  /** The digest of the name under which it would be published, where the store knows it. */
  readonly digest: Sha256 | null
  readonly modifiedAtMs: number
  /** Asks when bytes came last, where `modifiedAtMs` says when the place was begun: one request, so for few. */
  readonly lastWrittenMs?: () => Promise<number>
}

interface Space {
  readonly freeBytes: number
  readonly totalBytes: number
}

/** The store does not hold the blob that was asked for. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'
}

/** The place of an assembly, or one of its parts, is gone: somebody else has published or removed it. */
export class AssemblyLost extends Error {
  override readonly name = 'AssemblyLost'
}

/** The store does not answer, or answers that it cannot now. */
export class BlobStoreUnavailable extends Error {
  override readonly name = 'BlobStoreUnavailable'
}

/** The store has no room left. */
export class BlobStoreFull extends Error {
  override readonly name = 'BlobStoreFull'
}
