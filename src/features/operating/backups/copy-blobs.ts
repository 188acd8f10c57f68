import { createHash } from 'node:crypto'
import { readWhole } from '../../../content/checks/copies.ts'
import {
  compressBelowPercent,
  compressSampleBytes,
  packBytesMax,
  packEntriesMax,
} from '../../../kernel/limits/backups.ts'
import { release, releaseAll } from '../../../kernel/piece-memory.ts'
import { BlobMissing, type BlobStore } from '../../../ports/blob-store.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { compressedWhole } from './coding.ts'
import { foundData, type Room, type Stored, sha256Beside, writeData, writeWhole } from './data-files.ts'
import type { Entry } from './entries.ts'
import { dataName } from './layout.ts'
import type { NamedBlob } from './named-blobs.ts'
import { type Naming, namesToTry } from './naming.ts'

/** Bytes that a row calls stored and that are not there, or not what they are called. Begins with which. */
export class SourceDamaged extends Error {
  override readonly name = 'SourceDamaged'
}

export interface CopyDeps extends Naming {
  readonly room: Room
  readonly store: Pick<BlobStore, 'size' | 'open'>
  /** Waits until so many bytes may be read. */
  readonly pace: (bytes: number) => Promise<void>
}

/** Copies a blob into a file of its own. `lying`: lengths of the files in the part of the vault where it belongs. */
export const copyBlob = async (
  deps: CopyDeps,
  blob: NamedBlob,
  lying: ReadonlyMap<VaultName, number>,
): Promise<{ readonly entry: Entry; readonly newBytes: number }> => {
  const { room } = deps
  const form = { kind: 'blob', compressed: await shrinks(deps, blob), encrypted: room.coding.encrypted } as const
  const id = room.coding.idOf(blob.digest)
  const at = (stored: Stored): Entry => ({ digest: blob.digest, bytes: blob.bytes, offset: 0, stored })
  for (const name of namesToTry(deps, (attempt) => dataName(blob.digest, id, attempt, form))) {
    const there = lying.get(name) ?? null
    if (there !== null) {
      // Whoever gave it its name had verified it (I3) and died before that was written down.
      const plain = !form.compressed && !form.encrypted
      const found = plain ? plainly(name, blob) : await foundData(room, name, blob.digest)
      if (found !== null && found.bytes === there) return { entry: at(found), newBytes: 0 }
      continue
    }
    const written = await writeData(room, name, blob.bytes, 'operators', verified(deps, blob))
    if (written !== null) return { entry: at(written), newBytes: written.bytes }
  }
  throw new RangeError('there are names without end')
}

const plainly = (name: VaultName, { digest, bytes }: NamedBlob): Stored => ({ name, bytes, sha256: digest })

/** The bytes of a blob; at their end throws {@link SourceDamaged} unless they are what it is called. */
async function* verified({ store, pace }: CopyDeps, { name, digest, bytes }: NamedBlob): AsyncGenerator<Uint8Array> {
  const stored = await store.size(name)
  if (stored === null) throw new SourceDamaged(`${digest}: its bytes are missing`)
  if (stored !== bytes) throw new SourceDamaged(`${digest}: it has ${stored} bytes instead of ${bytes}`)
  const hash = createHash('sha256')
  try {
    for await (const piece of await store.open(name, { start: 0, end: bytes })) {
      await pace(piece.byteLength)
      hash.update(piece)
      yield piece
    }
  } catch (error) {
    if (error instanceof BlobMissing) throw new SourceDamaged(`${digest}: its bytes are missing`)
    throw error
  }
  const found = hash.digest('hex')
  if (found !== digest) throw new SourceDamaged(`${digest}: its content has the SHA-256 ${found}`)
}

/** Whether the first bytes of a blob shrink enough for all of it to be compressed. */
const shrinks = async ({ store }: CopyDeps, { name, bytes }: NamedBlob): Promise<boolean> => {
  const end = Math.min(bytes, compressSampleBytes)
  if (end === 0) return false
  const pieces: Buffer[] = []
  try {
    for await (const piece of await store.open(name, { start: 0, end })) pieces.push(Buffer.from(piece))
  } catch (error) {
    // Said where it is read whole.
    if (error instanceof BlobMissing) return false
    throw error
  }
  return (await compressedWhole(Buffer.concat(pieces))).byteLength * 100 < end * compressBelowPercent
}

/** A small blob, whole. */
export interface ReadBlob {
  readonly blob: NamedBlob
  readonly bytes: Buffer
}

/** Reads a small blob. Throws {@link SourceDamaged} unless it is what it is called. */
export const readSmall = async ({ store, pace }: CopyDeps, blob: NamedBlob): Promise<ReadBlob> => {
  const bytes = Buffer.allocUnsafeSlow(blob.bytes)
  let length = 0
  await pace(blob.bytes)
  const fault = await readWhole(store, blob, async (piece) => {
    bytes.set(piece, length)
    length += piece.byteLength
  })
  if (fault !== null) throw new SourceDamaged(`${blob.digest}: ${fault}`)
  return { blob, bytes }
}

/** Small blobs on their way into one file. */
export class Pack {
  readonly #parts: ReadBlob[] = []
  #bytes = 0

  get empty(): boolean {
    return this.#parts.length === 0
  }

  get full(): boolean {
    return this.#bytes >= packBytesMax || this.#parts.length >= packEntriesMax
  }

  add({ blob, bytes }: ReadBlob): void {
    this.#parts.push({ blob, bytes })
    this.#bytes += blob.bytes
  }

  /** Writes it, in the order of digests, and says where each of them is. */
  async write(deps: CopyDeps): Promise<{ readonly entries: Entry[]; readonly newBytes: number }> {
    const { room } = deps
    const parts = this.#parts.sort((a, b) => (a.blob.digest < b.blob.digest ? -1 : 1))
    const bytes = Buffer.concat(parts.map((part) => part.bytes))
    // Each had memory of its own, and nobody asks for it again.
    for (const part of parts) release(part.bytes)
    // Both in the thread pool, side by side: the main thread hashes what is read for the next pack meanwhile.
    const [digest, smaller] = await Promise.all([sha256Beside(bytes), compressedWhole(bytes)])
    const compressed = smaller.byteLength * 100 < this.#bytes * compressBelowPercent
    const [kept, other] = compressed ? [smaller, bytes] : [bytes, smaller]
    releaseAll(other)
    const form = { kind: 'pack', compressed, encrypted: room.coding.encrypted } as const
    const id = room.coding.idOf(digest)
    for (const name of namesToTry(deps, (attempt) => dataName(digest, id, attempt, form))) {
      const written = (await writeWhole(room, name, 'operators', kept)) ?? (await foundData(room, name, digest))
      if (written === null) continue
      releaseAll(kept)
      let offset = 0
      const entries = parts.map(({ blob }) => {
        const entry = { digest: blob.digest, bytes: blob.bytes, offset, stored: written }
        offset += blob.bytes
        return entry
      })
      return { entries, newBytes: written.bytes }
    }
    throw new RangeError('there are names without end')
  }
}
