import { atOnce } from '../../../kernel/at-once.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import {
  backupBlobsAtOnce,
  linesPendingMax,
  packedBelowBytes,
  packedBlobsAtOnce,
  packLivePercentMin,
  partFilesMax,
} from '../../../kernel/limits/backups.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { ChunkWriter, type KnownChunks } from './chunks.ts'
import { fileText } from './contents.ts'
import { type CopyDeps, copyBlob, Pack, type ReadBlob, readSmall, SourceDamaged } from './copy-blobs.ts'
import type { Stored } from './data-files.ts'
import { type Entry, entryText } from './entries.ts'
import { IndexWriter } from './indexes.ts'
import { KnownEntries } from './known-entries.ts'
import { dataPart, formOf } from './layout.ts'
import { lyingBelow } from './lying.ts'
import type { NamedBlob } from './named-blobs.ts'

/** How far a capture is. */
export interface Counted {
  bytes: number
  blobs: number
}

interface BlobDeps extends CopyDeps {
  readonly reach: ReachFaultPoint
  /** Throws where it is to stop. */
  readonly goOn: () => void
  /** Every stored blob of the point, in the order of digests, in pages; read twice. */
  readonly blobs: () => AsyncIterable<readonly NamedBlob[]>
  /** What is known to be in the vault already, each list in the order of digests, in pages; read twice. */
  readonly known: () => readonly AsyncIterable<readonly Entry[]>[]
  readonly chunks: KnownChunks
  readonly counted: (done: Counted) => void
}

export interface Plan {
  readonly blobs: number
  readonly bytes: number
  /** Bytes of blobs that no list names. */
  readonly missingBytes: number
  /** Packs of which too little is wanted. */
  readonly sparse: ReadonlySet<VaultName>
}

/** Counts what there is to do, without looking at a file. */
export const planBlobs = async ({ blobs, known, goOn }: BlobDeps): Promise<Plan> => {
  const plan = { blobs: 0, bytes: 0, missingBytes: 0 }
  const entries = new KnownEntries(known())
  const packs = new WantedOfPacks()
  for await (const page of blobs()) {
    goOn()
    for (const blob of page) {
      plan.blobs += 1
      plan.bytes += blob.bytes
      const [entry] = await entries.of(blob.digest)
      if (entry === undefined) plan.missingBytes += blob.bytes
      else packs.want(entry)
    }
  }
  return { ...plan, sparse: packs.sparse() }
}

interface WantedOfPack {
  wanted: number
  bytes: number
}

/** How much of each pack is wanted. */
class WantedOfPacks {
  readonly #packs = new Map<VaultName, WantedOfPack>()
  /** That of the entry before, which most often is that of the next one. */
  #stored: Stored | null = null
  #pack: WantedOfPack | null = null

  want({ offset, bytes, stored }: Entry): void {
    if (stored !== this.#stored) {
      this.#stored = stored
      this.#pack = isPack(stored) ? (this.#packs.get(stored.name) ?? { wanted: 0, bytes: 0 }) : null
      if (this.#pack !== null) this.#packs.set(stored.name, this.#pack)
    }
    if (this.#pack === null) return
    // How long a pack is before it was compressed shows in the offsets of what is in it.
    this.#pack.bytes = Math.max(this.#pack.bytes, offset + bytes)
    this.#pack.wanted += bytes
  }

  /** Those of which too little is. */
  sparse(): ReadonlySet<VaultName> {
    const sparse = new Set<VaultName>()
    for (const [name, { wanted, bytes }] of this.#packs) if (wanted * 100 < bytes * packLivePercentMin) sparse.add(name)
    return sparse
  }
}

const isPack = ({ name }: Stored): boolean => formOf(name).kind === 'pack'

export interface CapturedBlobs {
  readonly contents: ChunkWriter
  readonly files: ChunkWriter
  readonly newBytes: number
  readonly indexes: readonly VaultName[]
}

/**
 * Afterwards the vault holds every blob, and every file that the new lists name was seen there with its length. Throws
 * {@link SourceDamaged}, once everything was tried.
 */
export const captureBlobs = async (deps: BlobDeps, { sparse }: Plan): Promise<CapturedBlobs> => {
  const run = new Run(deps, sparse)
  const entries = new KnownEntries(deps.known())
  try {
    for await (const [part, blobs] of byPart(deps.blobs())) {
      const lying = await lyingIn(deps, part)
      const known: (readonly [NamedBlob, readonly Entry[]])[] = []
      for (const blob of blobs) known.push([blob, await entries.of(blob.digest)])
      await run.part(known, lying)
    }
    return await run.end()
  } finally {
    // Nothing is written any more once this is over, however it ends.
    await run.still()
  }
}

/** A blob whose line is to be written, in its turn, once it is known where it is. */
interface Pending {
  readonly blob: NamedBlob
  /** Null as long as it is on its way into a pack; and behind that for one that is at fault. */
  entry: Entry | null
  onItsWay: boolean
}

/** One capture's way through the blobs: a part at a time. */
class Run {
  readonly #deps: BlobDeps
  readonly #sparse: ReadonlySet<VaultName>
  readonly #contents: ChunkWriter
  readonly #files: ChunkWriter
  readonly #index: IndexWriter
  /** How long the packs are that were come upon; null for one that is not there. */
  readonly #packs = new Map<VaultName, number | null>()
  /** The last file that was found usable: what comes next is most often in the same pack. */
  #sound: Stored | null = null
  readonly #faults: string[] = []
  #pack = new Pack()
  /** The pack before, while it is written. */
  #writing: Promise<void> = Promise.resolve()
  /** Those behind the first one that is still on its way into a pack. */
  readonly #pending: Pending[] = []
  #packed: Pending[] = []
  #faulty = 0
  #newBytes = 0
  readonly #done: Counted = { bytes: 0, blobs: 0 }

  constructor(deps: BlobDeps, sparse: ReadonlySet<VaultName>) {
    const { room, chunks } = deps
    this.#deps = deps
    this.#sparse = sparse
    this.#contents = new ChunkWriter(room, { kind: 'list', readers: 'service' }, chunks)
    this.#files = new ChunkWriter(room, { kind: 'list', readers: 'anybody' }, chunks)
    this.#index = new IndexWriter(room)
  }

  async part(
    known: readonly (readonly [NamedBlob, readonly Entry[]])[],
    lying: ReadonlyMap<VaultName, number>,
  ): Promise<void> {
    const large: Pending[] = []
    const small: Pending[] = []
    for (const [blob, entries] of known) {
      const entry = await this.#usable(entries, lying)
      const pending = { blob, entry, onItsWay: entry === null }
      this.#pending.push(pending)
      if (entry !== null) this.#count(blob)
      else if (blob.bytes < packedBelowBytes) small.push(pending)
      else large.push(pending)
    }
    await atOnce(large, backupBlobsAtOnce, (pending) => this.#copy(pending, lying))
    await this.#gather(small)
    if (this.#pending.length > linesPendingMax) await this.#endPack()
    await this.#writeLines()
  }

  async end(): Promise<CapturedBlobs> {
    await this.#endPack()
    await this.#index.flush()
    if (this.#faulty > 0)
      throw new SourceDamaged(
        `${this.#faulty} stored files are missing or damaged; svc doctor and svc scrub tell more: ${this.#faults.join('; ')}`,
      )
    await this.#writeLines()
    await this.#contents.end()
    await this.#files.end()
    return {
      contents: this.#contents,
      files: this.#files,
      newBytes: this.#newBytes + this.#contents.newBytes + this.#files.newBytes,
      indexes: this.#index.written,
    }
  }

  /** Resolves when nothing is being written. */
  async still(): Promise<void> {
    await this.#writing.catch(() => {})
  }

  /** Those before the first one that is on its way. */
  async #writeLines(): Promise<void> {
    const first = this.#pending.findIndex(({ onItsWay }) => onItsWay)
    for (const { entry } of this.#pending.splice(0, first < 0 ? this.#pending.length : first)) {
      // Without one it is a fault, and there will be no point.
      if (entry === null) continue
      await this.#contents.add(entryText(entry), entry.digest)
      if (this.#deps.room.coding.encrypted) await this.#files.add(fileText(entry.stored), entry.digest)
    }
  }

  /** The first entry whose file is there with its length, undamaged and worth keeping. */
  async #usable(entries: readonly Entry[], lying: ReadonlyMap<VaultName, number>): Promise<Entry | null> {
    for (const entry of entries) {
      if (entry.stored === this.#sound) return entry
      const { name, bytes } = entry.stored
      if (this.#deps.isDamaged(name) || this.#sparse.has(name)) continue
      const there = isPack(entry.stored) ? await this.#packSize(name) : (lying.get(name) ?? null)
      if (there !== bytes) continue
      this.#sound = entry.stored
      return entry
    }
    return null
  }

  async #packSize(name: VaultName): Promise<number | null> {
    const known = this.#packs.get(name)
    if (known !== undefined) return known
    const size = await this.#deps.room.vault.size(name)
    this.#packs.set(name, size)
    return size
  }

  async #copy(pending: Pending, lying: ReadonlyMap<VaultName, number>): Promise<void> {
    this.#deps.goOn()
    await this.#orFault(async () => {
      const { entry, newBytes } = await copyBlob(this.#deps, pending.blob, lying)
      pending.entry = entry
      this.#newBytes += newBytes
      await this.#index.add([entry])
      this.#deps.reach('backup.blob')
    })
    pending.onItsWay = false
    this.#count(pending.blob)
  }

  /** Reads several at once, and puts them into packs in their order. While a pack is written the next one fills. */
  async #gather(small: readonly Pending[]): Promise<void> {
    for (let from = 0; from < small.length; from += packedBlobsAtOnce) {
      this.#deps.goOn()
      const group = small.slice(from, from + packedBlobsAtOnce)
      const read: (ReadBlob | undefined)[] = []
      await atOnce(group, packedBlobsAtOnce, ({ blob }, index) =>
        this.#orFault(async () => {
          read[index] = await readSmall(this.#deps, blob)
        }),
      )
      for (const [index, pending] of group.entries()) {
        const found = read[index]
        this.#count(pending.blob)
        pending.onItsWay = found !== undefined
        if (found === undefined) continue
        this.#pack.add(found)
        this.#packed.push(pending)
        if (this.#pack.full) await this.#beginWriting()
      }
    }
  }

  /** Has the pack written once the one before is there. */
  async #beginWriting(): Promise<void> {
    await this.#writing
    const [pack, packed] = [this.#pack, this.#packed]
    this.#pack = new Pack()
    this.#packed = []
    this.#writing = this.#writePack(pack, packed)
    // Said by whoever waits for it.
    this.#writing.catch(() => {})
  }

  async #endPack(): Promise<void> {
    if (!this.#pack.empty) await this.#beginWriting()
    await this.#writing
  }

  async #writePack(pack: Pack, packed: readonly Pending[]): Promise<void> {
    const { entries, newBytes } = await pack.write(this.#deps)
    // Both are in the order of digests.
    for (const [index, pending] of packed.entries()) {
      pending.entry = entries[index] ?? null
      pending.onItsWay = false
    }
    this.#newBytes += newBytes
    await this.#index.add(entries)
    this.#deps.reach('backup.pack')
  }

  async #orFault(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof SourceDamaged)) throw error
      this.#faulty += 1
      if (this.#faults.length < findingsMax) this.#faults.push(error.message)
    }
  }

  #count({ bytes }: NamedBlob): void {
    this.#done.bytes += bytes
    this.#done.blobs += 1
    this.#deps.counted(this.#done)
  }
}

/** Blobs together by the part that they lie in. */
async function* byPart(pages: AsyncIterable<readonly NamedBlob[]>): AsyncGenerator<readonly [string, NamedBlob[]]> {
  let together: NamedBlob[] = []
  let part = ''
  for await (const page of pages)
    for (const blob of page) {
      if (!blob.digest.startsWith(part) && together.length > 0) {
        yield [part, together]
        together = []
      }
      if (together.length === 0) part = blob.digest.slice(0, 2)
      together.push(blob)
    }
  if (together.length > 0) yield [part, together]
}

/** Lengths of the files of single blobs that lie in a part. */
const lyingIn = async ({ room, goOn }: BlobDeps, part: string): Promise<ReadonlyMap<VaultName, number>> => {
  const lying = new Map<VaultName, number>()
  for await (const { name, bytes } of lyingBelow(room.vault, dataPart(part), { most: partFilesMax, goOn }))
    if (name.includes('.blob')) lying.set(name, bytes)
  return lying
}
