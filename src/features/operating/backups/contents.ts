import { toSha256 } from '../../../kernel/digest.ts'
import { toVaultName } from '../../../ports/vault-name.ts'
import { type Chunk, linesAhead, storedChunk } from './chunks.ts'
import { BackupDamaged, type Room, type Stored } from './data-files.ts'
import { type Entry, EntryReader } from './entries.ts'
import type { ManifestContent } from './manifest.ts'
import { Rounds } from './rounds.ts'

/** Where the blobs of a point are, in the order of their digests. */
export async function* contentsOf(room: Room, chunks: readonly Chunk[]): AsyncGenerator<Entry> {
  for await (const page of pagesOfContents(room, chunks)) yield* page
}

/** The same, those of a chunk together. `unreadable` is told why one cannot be read, and throws, or it is left out. */
export async function* pagesOfContents(
  room: Room,
  chunks: readonly Chunk[],
  unreadable?: (error: unknown) => void,
): AsyncGenerator<Entry[]> {
  const rounds = new Rounds()
  const reader = new EntryReader()
  for await (const { chunk, lines } of linesAhead(room, chunks, unreadable)) {
    const page: Entry[] = []
    try {
      for (const line of lines) {
        await rounds.next()
        page.push(readIn(chunk, () => reader.read(line)))
      }
    } catch (error) {
      if (unreadable === undefined) throw error
      unreadable(error)
      continue
    }
    yield page
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
  const reader = new EntryReader()
  const lists = (manifest.encrypted ? manifest.files : manifest.contents).values().filter((chunk) => !skip(chunk))
  for await (const { chunk, lines } of linesAhead(room, lists)) {
    let last: Stored | null = null
    for (const line of lines) {
      await rounds.next()
      const stored = readIn(chunk, () => (manifest.encrypted ? fileOf(line) : reader.read(line).stored))
      if (stored.name !== last?.name) yield stored
      last = stored
    }
  }
}

const fileOf = (line: string): Stored => {
  const [name = '', bytes = '', sha256 = ''] = line.split(' ')
  return { name: toVaultName(name), bytes: Number(bytes), sha256: toSha256(sha256) }
}
