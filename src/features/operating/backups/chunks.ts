import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import Type, { type Static } from 'typebox'
import { fields, Sha256Text } from '../../../contract/schemas.ts'
import { toSha256 } from '../../../kernel/digest.ts'
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
import { type DataKind, dataName, dataNamePattern, formOf } from './layout.ts'

/** A chunk of lines as a manifest names it. */
export const Chunk = fields({
  file: Type.String({ pattern: dataNamePattern }),
  lines: Type.Integer({ minimum: 1 }),
  /** Of the lines, newlines included, before they are compressed; of an encrypted file, of the file. */
  sha256: Sha256Text,
  /** Of the file as it lies there. */
  stored: fields({ bytes: Type.Integer({ minimum: 0 }), sha256: Sha256Text }),
})
export type Chunk = Static<typeof Chunk>

export const storedChunk = ({ file, stored }: Chunk): Stored => ({
  name: toVaultName(file),
  bytes: stored.bytes,
  sha256: toSha256(stored.sha256),
})

/** What is known of chunks before they are written. */
export interface KnownChunks {
  /** Those of the point before, by file. */
  readonly before: ReadonlyMap<string, Chunk>
  /** Whether a file was found to be damaged, though it has its length. */
  readonly isDamaged: (name: VaultName) => boolean
}

/**
 * Writes lines as chunks whose ends depend on the lines: one that is added or changed makes a new chunk of the one it
 * is in, and all others are there already.
 */
export class ChunkWriter {
  readonly chunks: Chunk[] = []
  /** Bytes that were not in the vault before. */
  newBytes = 0
  readonly #room: Room
  readonly #kind: DataKind
  readonly #readers: Readers
  readonly #known: KnownChunks
  #lines: string[] = []
  #characters = 0

  constructor(room: Room, kind: 'rows' | 'list', readers: Readers, known: KnownChunks) {
    this.#room = room
    this.#kind = kind
    this.#readers = readers
    this.#known = known
  }

  /** `marks`: what the boundary goes by, where that is not the whole line. */
  async add(line: string, marks: string = line): Promise<void> {
    this.#lines.push(line)
    this.#characters += line.length
    const ends = this.#lines.length >= chunkLinesMin && crc32(marks) % chunkLinesAbout === 0
    if (ends || this.#lines.length >= chunkLinesMax || this.#characters >= chunkCharactersMax) await this.end()
  }

  /** Ends the chunk, if one is begun. */
  async end(): Promise<void> {
    if (this.#lines.length === 0) return
    const text = Buffer.from(`${this.#lines.join('\n')}\n`)
    const lines = this.#lines.length
    this.#lines = []
    this.#characters = 0
    const { name, ...stored } = await this.#written(text)
    // Of what is encrypted nothing is told but how it lies there.
    const sha256 = formOf(name).encrypted ? stored.sha256 : hash('sha256', text)
    this.chunks.push({ file: name, lines, sha256, stored })
  }

  async #written(text: Buffer): Promise<Stored> {
    const { vault, coding } = this.#room
    const digest = toSha256(hash('sha256', text))
    const encrypted = coding.encrypted && this.#readers !== 'anybody'
    const form = { kind: this.#kind, compressed: true, encrypted }
    const id = encrypted ? coding.idOf(digest) : digest
    for (let attempt = 0; ; attempt++) {
      const name = dataName(digest, id, attempt, form)
      if (this.#known.isDamaged(name)) continue
      const before = this.#known.before.get(name)
      const size = await vault.size(name)
      if (before !== undefined && size === before.stored.bytes) return storedChunk(before)
      if (size !== null) {
        // Of a run that did not end, or not what it was: what it holds decides.
        const lying = before === undefined ? await foundData(this.#room, name, digest) : null
        if (lying === null) continue
        return lying
      }
      const written = await writeData(this.#room, name, text.byteLength, this.#readers, once(text))
      if (written === null) continue
      this.newBytes += written.bytes
      return written
    }
  }
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
  const lines = text.toString().split('\n').slice(0, -1)
  if (lines.length !== chunk.lines)
    throw new BackupDamaged('damaged', stored.name, `the manifest says that it has ${chunk.lines} lines`)
  return lines
}
