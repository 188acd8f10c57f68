import { type Sha256, toSha256 } from '../../../kernel/digest.ts'
import { contentsOf } from './contents.ts'
import type { Room } from './data-files.ts'
import type { Manifest } from './manifest.ts'
import { PackReader } from './pack-reader.ts'
import { rowsOfPoint, tells } from './point-rows.ts'

/** A file of a point: its bytes can be read once. */
export interface FoundBytes {
  readonly digest: Sha256
  readonly pieces: () => AsyncIterable<Uint8Array>
}

/**
 * The bytes of the wanted digests that a point has, each once: first those that are rows, then the others in the order
 * of digests. One pass over its lists, however many are wanted.
 */
export async function* bytesInPoint(
  room: Room,
  manifest: Manifest,
  wanted: { has(digest: string): boolean; readonly size: number },
): AsyncGenerator<FoundBytes> {
  if (wanted.size === 0) return
  const seen = new Set<string>()
  for await (const { sha256, bytes } of rowsOfPoint(room, manifest, 'inline_bytes')) {
    const digest = String(sha256)
    if (!wanted.has(digest) || seen.has(digest) || !(bytes instanceof Uint8Array)) continue
    seen.add(digest)
    yield { digest: toSha256(digest), pieces: () => once(bytes) }
  }
  const packs = new PackReader(room)
  for await (const entry of contentsOf(room, manifest.contents)) {
    if (!wanted.has(entry.digest) || seen.has(entry.digest)) continue
    seen.add(entry.digest)
    yield { digest: entry.digest, pieces: () => packs.bytesOf(entry) }
    if (seen.size === wanted.size) return
  }
}

/** The bytes of one digest; null where the point does not have them. */
export const bytesOfDigest = async (room: Room, manifest: Manifest, digest: Sha256): Promise<FoundBytes | null> => {
  for await (const { bytes } of rowsOfPoint(room, manifest, 'inline_bytes', tells(digest)))
    if (bytes instanceof Uint8Array) return { digest, pieces: () => once(bytes) }
  for await (const entry of contentsOf(room, manifest.contents)) {
    if (entry.digest > digest) break
    if (entry.digest === digest) return { digest, pieces: () => new PackReader(room).bytesOf(entry) }
  }
  return null
}

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  if (piece.byteLength > 0) yield piece
}
