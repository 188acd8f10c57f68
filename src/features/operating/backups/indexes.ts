import { createHash } from 'node:crypto'
import { toSha256 } from '../../../kernel/digest.ts'
import { indexBytesMax, indexEntriesMax, indexesOpenMax, indexTextBytesMax } from '../../../kernel/limits/backups.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { compressedWhole, decompressedWhole } from './coding.ts'
import type { Room } from './data-files.ts'
import { type Entry, entryOf, entryText } from './entries.ts'
import { firstOfIndex, indexName } from './layout.ts'

/**
 * What a capture has copied before its manifest can say so: lists of their own, written as it goes along, from which a
 * later capture goes on. Once a point is written they are of no use.
 */
export class IndexWriter {
  readonly written: VaultName[] = []
  readonly #room: Room
  #entries: Entry[] = []
  #bytes = 0

  constructor(room: Room) {
    this.#room = room
  }

  async add(entries: readonly Entry[]): Promise<void> {
    this.#entries.push(...entries)
    for (const { bytes } of entries) this.#bytes += bytes
    if (this.#entries.length >= indexEntriesMax || this.#bytes >= indexBytesMax) await this.flush()
  }

  async flush(): Promise<void> {
    const entries = this.#entries.sort((a, b) => (a.digest < b.digest ? -1 : 1))
    const [first] = entries
    if (first === undefined) return
    this.#entries = []
    this.#bytes = 0
    const { vault, coding } = this.#room
    const text = Buffer.from(`${entries.map(entryText).join('\n')}\n`)
    const id = coding.idOf(toSha256(createHash('sha256').update(text).digest('hex')))
    const name = indexName(first.digest, id, coding.encrypted)
    const small = coding.encrypted
      ? Buffer.concat(await Array.fromAsync(coding.encrypt(once(await compressedWhole(text)), 'service')))
      : await compressedWhole(text)
    await vault.create(name, small)
    this.written.push(name)
  }
}

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece
}

/** The entries of an index; none where it is damaged or cannot be read: then what it names is copied anew. */
const entriesOf = async ({ vault, coding }: Room, name: VaultName): Promise<Entry[]> => {
  try {
    const bytes = await vault.read(name, indexTextBytesMax)
    if (bytes === null) return []
    const clear = coding.encrypted ? Buffer.concat(await Array.fromAsync(coding.decrypt(once(bytes)))) : bytes
    const text = (await decompressedWhole(clear, indexTextBytesMax)).toString()
    return text.split('\n').slice(0, -1).map(entryOf)
  } catch (error) {
    if (error instanceof VaultFailure && error.trouble !== 'damaged') throw error
    return []
  }
}

/** An index that is being read: its entries, and the next of them. */
interface Cursor {
  readonly entries: readonly Entry[]
  at: number
}

/** What they name, in the order of digests; each is read when it is its turn. */
export async function* entriesOfIndexes(room: Room, names: readonly VaultName[]): AsyncGenerator<Entry> {
  const waiting = [...names].sort().reverse()
  let open: Cursor[] = []
  for (;;) {
    const next = least(open)
    const coming = waiting.at(-1)
    if (coming !== undefined && (next === null || (firstOfIndex(coming) ?? '') <= next.entry.digest)) {
      waiting.pop()
      // Whoever can write there may have put any number of them into one place.
      if (open.length >= indexesOpenMax) continue
      open.push({ entries: await entriesOf(room, coming), at: 0 })
      continue
    }
    if (next === null) return
    next.cursor.at += 1
    open = open.filter(({ entries, at }) => at < entries.length)
    yield next.entry
  }
}

const least = (open: readonly Cursor[]): { readonly entry: Entry; readonly cursor: Cursor } | null => {
  let found: { readonly entry: Entry; readonly cursor: Cursor } | null = null
  for (const cursor of open) {
    const entry = cursor.entries[cursor.at]
    if (entry !== undefined && (found === null || entry.digest < found.entry.digest)) found = { entry, cursor }
  }
  return found
}
