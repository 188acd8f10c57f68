import { type Sha256, toSha256 } from '../../../kernel/digest.ts'
import { type BlobName, blobName } from '../../../ports/blob-name.ts'
import { linesOf, rowIn } from './chunks.ts'
import type { Room } from './data-files.ts'
import type { BackedUpTable } from './manifest.ts'
import { Rounds } from './rounds.ts'

/** A blob that the rows of a point call stored. Inline bytes are rows themselves. */
export interface NamedBlob {
  readonly digest: Sha256
  readonly name: BlobName
  readonly bytes: number
}

/** Those of a point, in the order of their digests. */
export async function* namedBlobs(room: Room, tables: readonly BackedUpTable[]): AsyncGenerator<NamedBlob> {
  const table = tables.find(({ name }) => name === 'blobs')
  const rounds = new Rounds()
  for (const chunk of table?.chunks ?? [])
    for (const line of await linesOf(room, chunk)) {
      await rounds.next()
      const { sha256, size, state, generation, inline } = rowIn(chunk, line, table?.columns ?? [])
      if (state !== 'stored' || inline === 1) continue
      const digest = toSha256(String(sha256))
      yield { digest, name: blobName(digest, String(generation)), bytes: Number(size) }
    }
}
