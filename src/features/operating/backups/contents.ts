import { toSha256 } from '../../../kernel/digest.ts'
import { toVaultName } from '../../../ports/vault-name.ts'
import { type Chunk, linesOf, storedChunk } from './chunks.ts'
import { BackupDamaged, type Room, type Stored } from './data-files.ts'
import { type Entry, entryOf } from './entries.ts'
import type { ManifestContent } from './manifest.ts'
import { Rounds } from './rounds.ts'

/** Where the blobs of a point are, in the order of their digests. */
export async function* contentsOf(room: Room, chunks: readonly Chunk[]): AsyncGenerator<Entry> {
  const rounds = new Rounds()
  for (const chunk of chunks)
    for (const line of await linesOf(room, chunk)) {
      await rounds.next()
      yield readIn(chunk, () => entryOf(line))
    }
}

/** What a line says. {@link BackupDamaged} where it says nothing. */
const readIn = <T>(chunk: Chunk, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw new BackupDamaged('damaged', storedChunk(chunk).name, String(error))
  }
}

/** A line of the list for whoever has no key. */
export const fileText = ({ name, bytes, sha256 }: Stored): string => `${name} ${bytes} ${sha256}`

/**
 * Every file that a point names, without any key: packs as often as it comes upon them. `skip` says which chunks of
 * lists need not be read, since what they name is known.
 */
export async function* filesOf(
  room: Room,
  manifest: ManifestContent,
  skip: (chunk: Chunk) => boolean = () => false,
): AsyncGenerator<Stored> {
  for (const { chunks } of manifest.tables) for (const chunk of chunks) yield storedChunk(chunk)
  for (const chunk of manifest.contents) yield storedChunk(chunk)
  for (const chunk of manifest.files) yield storedChunk(chunk)
  const rounds = new Rounds()
  for (const chunk of manifest.encrypted ? manifest.files : manifest.contents) {
    if (skip(chunk)) continue
    let last: Stored | null = null
    for (const line of await linesOf(room, chunk)) {
      await rounds.next()
      const stored = readIn(chunk, () => (manifest.encrypted ? fileOf(line) : entryOf(line).stored))
      if (stored.name !== last?.name) yield stored
      last = stored
    }
  }
}

const fileOf = (line: string): Stored => {
  const [name = '', bytes = '', sha256 = ''] = line.split(' ')
  return { name: toVaultName(name), bytes: Number(bytes), sha256: toSha256(sha256) }
}
