import { type Sha256, toSha256 } from '../../../kernel/digest.ts'
import { type BlobName, blobName } from '../../../ports/blob-name.ts'
import { linesAhead, rowIn } from './chunks.ts'
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
  for await (const page of pagesOfNamedBlobs(room, tables)) yield* page
}

/** The same, those of a chunk together. */
export async function* pagesOfNamedBlobs(room: Room, tables: readonly BackedUpTable[]): AsyncGenerator<NamedBlob[]> {
  const table = tables.find(({ name }) => name === 'blobs')
  const rounds = new Rounds()
  for await (const { chunk, lines } of linesAhead(room, table?.chunks ?? [])) {
    const page: NamedBlob[] = []
    for (const line of lines) {
      await rounds.next()
      const { sha256, size, state, generation, inline } = rowIn(chunk, line, table?.columns ?? [])
      if (state !== 'stored' || inline === 1) continue
      const digest = toSha256(String(sha256))
      page.push({ digest, name: blobName(digest, String(generation)), bytes: Number(size) })
    }
    yield page
  }
}
