import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Row } from '../../../database/moving/rows.queries.ts'
import { rowOf } from '../../../database/moving/rows.ts'
import { isSha256, type Sha256, toSha256 } from '../../../kernel/digest.ts'
import {
  chunkBytesMax,
  chunkCharactersMax,
  chunkLinesAbout,
  chunkLinesMax,
  chunkLinesMin,
} from '../../../kernel/limits/backups.ts'
import { toVaultName, type VaultName } from '../../../ports/vault-name.ts'
import type { Readers } from './coding.ts'
import { BackupDamaged, foundData, type Room, type Stored, wholeData, writeData } from './data-files.ts'
import { dataName, formOf, isDataName, withoutTry } from './layout.ts'
import { type Naming, namesToTry } from './naming.ts'
import { Rounds } from './rounds.ts'

/** A chunk of lines as a manifest names it. */
export interface Chunk {
  /** A name of data. */
  readonly file: string
  readonly lines: number
  /** Of the lines, newlines included, before they are compressed; of an encrypted file, of the file. */
  readonly sha256: string
  /** Of the file as it lies there. */
  readonly stored: { readonly bytes: number; readonly sha256: string }
}

/** By hand: a manifest may have fifty thousand of them, and a schema takes thirty times as long to look at one. */
export const isChunk = (value: unknown): value is Chunk =>
  hasFields(value, 'file', 'lines', 'sha256', 'stored') &&
  isFormed(value['file'], isDataName) &&
  isCount(value['lines'], 1, chunkLinesMax) &&
  isFormed(value['sha256'], isSha256) &&
  hasFields(value['stored'], 'bytes', 'sha256') &&
  isCount(value['stored']['bytes'], 0, Number.MAX_SAFE_INTEGER) &&
  isFormed(value['stored']['sha256'], isSha256)

/** Whether it is an object that has these and no others. */
const hasFields = (value: unknown, ...names: readonly string[]): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === names.length &&
  names.every((name) => Object.hasOwn(value, name))

const isFormed = (value: unknown, is: (text: string) => boolean): boolean => typeof value === 'string' && is(value)

const isCount = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

export const storedChunk = ({ file, stored }: Chunk): Stored => ({
  name: toVaultName(file),
  bytes: stored.bytes,
  sha256: toSha256(stored.sha256),
})

/** What is known of chunks before they are written. */
export interface KnownChunks extends Naming {
  /** Those of the point before, by what their tries have in common. */
  readonly before: ReadonlyMap<string, Chunk>
}

/** By what a capture finds the chunks of the point before. */
export const byData = (chunks: readonly Chunk[]): ReadonlyMap<string, Chunk> =>
  new Map(chunks.map((chunk) => [withoutTry(chunk.file), chunk]))

/**
 * Cuts lines into chunks whose ends depend on the lines: one that is added or changed makes a new chunk of the one it
 * is in, and all others are what they were.
 */
export class ChunkCutter {
  readonly #take: (text: Buffer, lines: number) => Promise<void>
  readonly #rounds = new Rounds()
  #lines: string[] = []
  #characters = 0

  constructor(take: (text: Buffer, lines: number) => Promise<void>) {
    this.#take = take
  }

  /** `marks`: what the boundary goes by, where that is not the whole line. Null where nothing is to be waited for. */
  add(line: string, marks: string = line): Promise<void> | null {
    return this.#push(line, marks) ? this.end() : this.#rounds.next()
  }

  /** The same of many lines, which go by themselves: for millions of them, of which few end a chunk. */
  async addAll(lines: readonly string[]): Promise<void> {
    await this.#rounds.next()
    for (const line of lines)
      if (this.#push(line, line)) {
        await this.end()
        await this.#rounds.next()
      }
  }

  /** Whether the chunk is to end behind this line. */
  #push(line: string, marks: string): boolean {
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#lines.length >= chunkLinesMax || this.#characters >= chunkCharactersMax) return true
    return this.#lines.length >= chunkLinesMin && crc32(marks) % chunkLinesAbout === 0
  }

  /** Ends the chunk, if one is begun. */
  async end(): Promise<void> {
    if (this.#lines.length === 0) return
    const text = Buffer.from(`${this.#lines.join('\n')}\n`)
    const lines = this.#lines.length
    this.#lines = []
    this.#characters = 0
    await this.#take(text, lines)
  }
}

/** What kind of chunk it is to be, and who is to read it. */
export interface ChunkForm {
  readonly kind: 'rows' | 'list'
  readonly readers: Readers
}

interface WrittenChunk {
  readonly chunk: Chunk
  /** Bytes that were not in the vault before. */
  readonly newBytes: number
}

/** Writes lines into a vault, chunk by chunk as they come. */
export class ChunkWriter {
  readonly chunks: Chunk[] = []
  /** Bytes that were not in the vault before. */
  newBytes = 0
  readonly #cutter: ChunkCutter

  constructor(room: Room, form: ChunkForm, known: KnownChunks) {
    this.#cutter = new ChunkCutter(async (text, lines) => {
      const { chunk, newBytes } = await writeChunk(room, form, known, text, lines)
      this.chunks.push(chunk)
      this.newBytes += newBytes
    })
  }

  /** `marks`: what the boundary goes by, where that is not the whole line. Null where nothing is to be waited for. */
  add(line: string, marks: string = line): Promise<void> | null {
    return this.#cutter.add(line, marks)
  }

  end(): Promise<void> {
    return this.#cutter.end()
  }
}

/** How a chunk of this text is called at each try. */
const namedBy = ({ coding }: Room, { kind, readers }: ChunkForm, digest: Sha256): ((attempt: number) => VaultName) => {
  const encrypted = coding.encrypted && readers !== 'anybody'
  const id = encrypted ? coding.idOf(digest) : digest
  return (attempt) => dataName(digest, id, attempt, { kind, compressed: true, encrypted })
}

const digestOf = (text: Buffer): Sha256 => toSha256(hash('sha256', text))

/** The chunk of the point before that has this text, if it lies in the vault as `sizes` say. Asks no vault. */
export const chunkBefore = (
  room: Room,
  form: ChunkForm,
  known: KnownChunks,
  sizes: ReadonlyMap<string, number | null>,
  text: Buffer,
): Chunk | null => {
  const before = chunkOf(known, namedBy(room, form, digestOf(text)))
  return before !== null && sizes.get(before.file) === before.stored.bytes ? before : null
}

/** The undamaged chunk of the point before. */
const chunkOf = ({ before, isDamaged }: KnownChunks, nameOf: (attempt: number) => VaultName): Chunk | null => {
  const chunk = before.get(nameOf(0))
  return chunk === undefined || isDamaged(storedChunk(chunk).name) ? null : chunk
}

/** Writes a chunk, unless it is there. */
export const writeChunk = async (
  room: Room,
  form: ChunkForm,
  known: KnownChunks,
  text: Buffer,
  lines: number,
): Promise<WrittenChunk> => {
  const written = ({ name, ...stored }: Stored): Chunk => ({
    file: name,
    lines,
    // Of what is encrypted nothing is told but how it lies there.
    sha256: formOf(name).encrypted ? stored.sha256 : hash('sha256', text),
    stored,
  })
  const digest = digestOf(text)
  const nameOf = namedBy(room, form, digest)
  const before = chunkOf(known, nameOf)
  if (before !== null && (await room.vault.size(storedChunk(before).name)) === before.stored.bytes)
    return { chunk: before, newBytes: 0 }
  for (const name of namesToTry(known, nameOf)) {
    if ((await room.vault.size(name)) !== null) {
      // Of a run that did not end, or not what it was: what it holds decides.
      const lying = name === before?.file ? null : await foundData(room, name, digest)
      if (lying !== null) return { chunk: written(lying), newBytes: 0 }
      continue
    }
    const stored = await writeData(room, name, text.byteLength, form.readers, once(text))
    if (stored !== null) return { chunk: written(stored), newBytes: stored.bytes }
  }
  throw new RangeError('there are names without end')
}

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece
}

/** The lines of a chunk. Throws {@link BackupDamaged}. */
export const linesOf = async (room: Room, chunk: Chunk): Promise<string[]> => {
  const stored = storedChunk(chunk)
  const text = await wholeData(room, stored, chunkBytesMax)
  if (!formOf(stored.name).encrypted && hash('sha256', text) !== chunk.sha256)
    throw new BackupDamaged('damaged', stored.name, 'its lines are not those that the manifest names')
  if (linesIn(text, chunk.lines) !== chunk.lines)
    throw new BackupDamaged('damaged', stored.name, `the manifest says that it has ${chunk.lines} lines`)
  return text.toString().split('\n').slice(0, -1)
}

/**
 * The lines of chunks, one after another; the next one is read while one is looked at. `unreadable` is told why one
 * cannot be read, and throws, or it is left out.
 */
export async function* linesAhead(
  room: Room,
  chunks: Iterable<Chunk>,
  unreadable?: (error: unknown) => void,
): AsyncGenerator<{ readonly chunk: Chunk; readonly lines: readonly string[] }> {
  const read = async (chunk: Chunk) => {
    try {
      return { chunk, lines: await linesOf(room, chunk) }
    } catch (error) {
      if (unreadable === undefined) throw error
      unreadable(error)
      return { chunk, lines: [] }
    }
  }
  let next: ReturnType<typeof read> | null = null
  try {
    for (const chunk of chunks) {
      const coming = read(chunk)
      // Said when it is its turn.
      coming.catch(() => {})
      const now = next
      next = coming
      if (now !== null) yield await now
    }
    if (next !== null) yield await next
  } finally {
    await next?.catch(() => {})
  }
}

/** Counts no further than one above `most`: who made the text may have made millions. */
const linesIn = (text: Buffer, most: number): number => {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1 && lines <= most; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

/** The row of a line of a chunk. {@link BackupDamaged} where it is none. */
export const rowIn = (chunk: Chunk, line: string, columns: readonly string[]): Row => {
  try {
    return rowOf(line, columns)
  } catch (error) {
    throw new BackupDamaged('damaged', storedChunk(chunk).name, `a line is no row: ${String(error)}`)
  }
}
