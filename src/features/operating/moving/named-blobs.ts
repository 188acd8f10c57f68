import { type Sha256, toSha256 } from '../../../kernel/digest.ts'
import { type BlobName, blobName } from '../../../ports/blob-name.ts'
import type { Vault } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { blobPartOf, blobsName } from './layout.ts'
import type { Manifest } from './manifest.ts'
import { readPiece } from './pieces.ts'

/** A blob that an export names. */
export interface NamedBlob {
  readonly digest: Sha256
  /** What the store calls it: the one that it comes from, and the one that it goes to. */
  readonly name: BlobName
  readonly bytes: number
}

/**
 * The blobs whose bytes are in the store, according to the rows of an export: in the order of their digests. Inline
 * bytes are rows as well.
 */
export async function* namedBlobs(
  vault: Vault,
  tables: Manifest['tables'],
  columns: readonly string[],
): AsyncGenerator<NamedBlob> {
  for (const piece of tables.find(({ name }) => name === 'blobs')?.pieces ?? [])
    for (const { sha256, size, state, generation, inline } of await readPiece(vault, piece, columns)) {
      if (state !== 'stored' || inline === 1) continue
      const digest = toSha256(String(sha256))
      yield { digest, name: blobName(digest, String(generation)), bytes: Number(size) }
    }
}

/** Blobs together by the part that they lie in. */
export async function* byPart(blobs: AsyncIterable<NamedBlob>): AsyncGenerator<readonly [string, NamedBlob[]]> {
  let together: NamedBlob[] = []
  let part = ''
  for await (const blob of blobs) {
    const next = blobPartOf(blob.digest)
    if (next !== part && together.length > 0) {
      yield [part, together]
      together = []
    }
    part = next
    together.push(blob)
  }
  if (together.length > 0) yield [part, together]
}

/** Bytes of what a vault holds of a part, by name. */
export const keptIn = async (vault: Vault, part: string): Promise<ReadonlyMap<VaultName, number>> => {
  const kept = new Map<VaultName, number>()
  for await (const { name, bytes } of vault.list(blobsName(part))) kept.set(name, bytes)
  return kept
}
