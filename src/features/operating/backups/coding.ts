import { pipeline, Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import { createZstdCompress, createZstdDecompress, zstdCompress, zstdDecompress } from 'node:zlib'
import type { Sha256 } from '../../../kernel/digest.ts'
import { codingPieceBytes } from '../../../kernel/limits/backups.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** What is in memory, compressed: in few large pieces, since thousands of small ones are work for the collector. */
export const compressedWhole = (bytes: Uint8Array): Promise<NonSharedBuffer> =>
  compress(bytes, { chunkSize: codingPieceBytes })

/** The same back. Throws where it is no such thing, or longer. */
export const decompressedWhole = (bytes: Uint8Array, bytesMax: number): Promise<NonSharedBuffer> =>
  decompress(bytes, {
    chunkSize: Math.max(codingPieceBytes, Math.min(4 * bytes.byteLength, bytesMax)),
    maxOutputLength: bytesMax,
  })

/** Who is to read: the operators alone, also the service, which goes by its lists, or whoever has the vault. */
export type Readers = 'operators' | 'service' | 'anybody'

/** Something is encrypted, and no key is here that opens it. */
export class BackupLocked extends Error {
  override readonly name = 'BackupLocked'
}

/** How a vault keeps its data from others: in the plain, or encrypted. */
export interface Coding {
  /** Whether what is written is encrypted. What is read says in its name whether it is. */
  readonly encrypted: boolean
  /** Whether a secret key of the operators is here, so that everything can be read. */
  readonly opens: boolean
  /** What data of this digest is called: 64 hexadecimal digits that only whoever has the key can make of it. */
  idOf(digest: Sha256): string
  encrypt(pieces: AsyncIterable<Uint8Array>, readers: Readers): AsyncIterable<Uint8Array>
  /** Throws {@link BackupLocked} where we have no key. */
  decrypt(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

export const plainCoding: Coding = {
  encrypted: false,
  opens: false,
  idOf: (digest) => digest,
  encrypt: (pieces) => pieces,
  // biome-ignore lint/correctness/useYield: it has nothing to hand on.
  async *decrypt() {
    throw new BackupLocked(
      'It is encrypted. Set SVC_BACKUP_IDENTITY_FILE to the file with the secret key of a recipient.',
    )
  },
}

/** Pieces that a transform makes of pieces. Those keep their memory only until the next one is asked for. */
async function* through(pieces: AsyncIterable<Uint8Array>, transform: Transform): AsyncGenerator<Uint8Array> {
  const copied = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) yield Buffer.from(piece)
  }
  // Its errors come out where it is read.
  pipeline(Readable.from(copied(), { highWaterMark: 1 }), transform, () => {})
  for await (const piece of transform) yield piece
}

export const compressed = (pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  through(pieces, createZstdCompress({ chunkSize: codingPieceBytes }))

export const decompressed = (pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  through(pieces, createZstdDecompress({ chunkSize: codingPieceBytes }))
