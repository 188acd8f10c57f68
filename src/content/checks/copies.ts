import { createHash, randomUUID } from 'node:crypto'
import { type BlobName, digestOfName } from '../../ports/blob-name.ts'
import { BlobMissing, type BlobStore } from '../../ports/blob-store.ts'

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
  const stored = await store.size(name)
  if (stored === null) return 'its bytes are missing'
  if (stored !== bytes) return `it has ${stored} bytes instead of ${bytes}`
  const hash = createHash('sha256')
  try {
    for await (const piece of await store.open(name, { start: 0, end: bytes })) {
      hash.update(piece)
      await take(piece)
    }
  } catch (error) {
    if (error instanceof BlobMissing) return 'its bytes are missing'
    throw error
  }
  const found = hash.digest('hex')
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
  { name, bytes }: NamedBytes,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const staged = await store.stage(randomUUID(), { name, bytes })
  try {
    const hash = createHash('sha256')
    let length = 0
    for await (const piece of pieces) {
      length += piece.byteLength
      if (length > bytes) throw new CopyDamaged(`it has more than ${bytes} bytes`)
      hash.update(piece)
      await staged.write(piece)
    }
    if (length < bytes) throw new CopyDamaged(`it has ${length} bytes instead of ${bytes}`)
    const found: string = hash.digest('hex')
    if (found !== digestOfName(name)) throw new CopyDamaged(`its content has the SHA-256 ${found}`)
    await staged.publish(name)
  } finally {
    await staged.discard()
  }
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
