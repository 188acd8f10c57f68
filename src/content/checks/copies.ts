import { createHash, hash, randomUUID } from 'node:crypto'
import { ownReadBufferBytesMax } from '../../kernel/limits/engines.ts'
import { type BlobName, digestOfName } from '../../ports/blob-name.ts'
import { type BlobBatch, BlobMissing, type BlobStore } from '../../ports/blob-store.ts'

/** A blob by what it is called in the store. */
interface NamedBytes {
  readonly name: BlobName
  readonly bytes: number
}

/**
 * Reads a stored blob to its end, hands on its pieces and hashes them. What is wrong with it, in words that go on from
 * its name, or null. A piece is valid until `take` resolves.
 */
export const readWhole = async (
  store: Pick<BlobStore, 'size' | 'open'>,
  { name, bytes }: NamedBytes,
  take: (piece: Uint8Array) => Promise<void>,
): Promise<string | null> => {
  const strange = async (): Promise<string | null> => {
    const stored = await store.size(name)
    if (stored === null) return 'its bytes are missing'
    return stored === bytes ? null : `it has ${stored} bytes instead of ${bytes}`
  }
  // A small one is read in one step, in which the store sees whether it is as long as that.
  const isSmall = bytes <= ownReadBufferBytesMax
  const before = isSmall ? null : await strange()
  if (before !== null) return before
  const hashed = createHash('sha256')
  let read = 0
  try {
    for await (const piece of await store.open(name, { start: 0, end: bytes }, bytes)) {
      hashed.update(piece)
      read += piece.byteLength
      await take(piece)
    }
  } catch (error) {
    if (error instanceof BlobMissing) return 'its bytes are missing'
    const why = isSmall && read === 0 ? await strange() : null
    if (why !== null) return why
    throw error
  }
  const found = hashed.digest('hex')
  return found === digestOfName(name) ? null : `its content has the SHA-256 ${found}`
}

/** Bytes that were to be copied are not what they are called. */
export class CopyDamaged extends Error {
  override readonly name = 'CopyDamaged'
}

/**
 * Puts bytes into the store that come from a place where they were named by their digest, and that nobody refers to
 * yet. A verified blob gets its final name, anything else none (I3): {@link CopyDamaged}. The pieces belong to the
 * store.
 */
export const copyIn = async (
  store: Pick<BlobStore, 'stage'>,
  blob: NamedBytes,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const staged = await store.stage(randomUUID(), blob)
  try {
    const hashed = createHash('sha256')
    for await (const piece of exactly(blob, pieces)) {
      hashed.update(piece)
      await staged.write(piece)
    }
    refuseOther(blob.name, hashed.digest('hex'))
    await staged.publish(blob.name)
  } finally {
    await staged.discard()
  }
}

/** The same of a blob that is in memory, whole: one of many, which are durable once their batch is settled. */
export const copyWholeIn = async (batch: BlobBatch, { name, bytes }: NamedBytes, whole: Uint8Array): Promise<void> => {
  if (whole.byteLength !== bytes) throw new CopyDamaged(`it has ${whole.byteLength} bytes instead of ${bytes}`)
  refuseOther(name, hash('sha256', whole))
  await batch.put(randomUUID(), name, whole)
}

/** A blob that has room in memory, whole. {@link CopyDamaged} where the pieces are more or fewer. */
export const gathered = async (
  blob: Pick<NamedBytes, 'bytes'>,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Uint8Array> => Buffer.concat(await Array.fromAsync(exactly(blob, pieces)))

/** The pieces, as long as they are no more than the blob has, and no fewer at their end. */
async function* exactly(
  { bytes }: Pick<NamedBytes, 'bytes'>,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const piece of pieces) {
    length += piece.byteLength
    if (length > bytes) throw new CopyDamaged(`it has more than ${bytes} bytes`)
    yield piece
  }
  if (length < bytes) throw new CopyDamaged(`it has ${length} bytes instead of ${bytes}`)
}

const refuseOther = (name: BlobName, found: string): void => {
  if (found !== digestOfName(name)) throw new CopyDamaged(`its content has the SHA-256 ${found}`)
}

/**
 * Whether the store holds the blob with exactly these bytes, and keeps them through a power cut under that name; reads
 * all of them. Whoever gave them their name may have died before it was durable.
 */
export const holdsWhole = async (
  store: Pick<BlobStore, 'size' | 'open' | 'growing'>,
  blob: NamedBytes,
): Promise<boolean> => {
  if ((await readWhole(store, blob, async () => {})) !== null) return false
  // Any place does: the name is the store's.
  await store.growing(randomUUID()).settleName(blob.name)
  return true
}
