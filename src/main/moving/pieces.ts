import { createHash, hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Row } from '../../database/moving/rows.queries.ts'
import { rowOf, rowText } from '../../database/moving/rows.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { exportPieceBytesMax, exportPieceCharacters, exportPieceRows } from '../../kernel/limits/engines.ts'
import { type BlobName, blobName } from '../../ports/blob-name.ts'
import { writeNamed } from '../durable-file.ts'
import { type ExportFolder, sizeOf } from './folder.ts'
import type { ExportedTable, Manifest, Piece } from './manifest.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** A file of an export is not what the manifest says. */
export class ExportDamaged extends Error {
  override readonly name = 'ExportDamaged'
  constructor(file: string, why: string) {
    super(`${file} is damaged: ${why}. Copy it again, or export again.`)
  }
}

/** Writes rows as files of bounded length: one row a line, compressed. */
export const writePieces = async (
  folder: ExportFolder,
  table: string,
  rows: AsyncIterable<Row>,
  written: (rows: number) => void,
): Promise<ExportedTable> => {
  const pieces: Piece[] = []
  let lines: string[] = []
  let characters = 0
  const flush = async (): Promise<void> => {
    const file = `tables/${table}-${String(pieces.length + 1).padStart(6, '0')}.ndjson.zst`
    const bytes = await compress(lines.join(''))
    await writeNamed(folder.file(file), async (handle) => {
      await handle.writeFile(bytes)
    })
    pieces.push({ file, rows: lines.length, sha256: createHash('sha256').update(bytes).digest('hex') })
    written(lines.length)
    lines = []
    characters = 0
  }
  for await (const row of rows) {
    const line = `${rowText(row)}\n`
    lines.push(line)
    characters += line.length
    if (lines.length >= exportPieceRows || characters >= exportPieceCharacters) await flush()
  }
  if (lines.length > 0) await flush()
  return { name: table, rows: pieces.reduce((sum, piece) => sum + piece.rows, 0), pieces }
}

/** The rows of a file. Throws {@link ExportDamaged}. */
export const readPiece = async (folder: ExportFolder, piece: Piece, columns: readonly string[]): Promise<Row[]> => {
  const path = folder.file(piece.file)
  const size = await sizeOf(path)
  if (size === null) throw new ExportDamaged(path, 'it is missing')
  if (size > exportPieceBytesMax) throw new ExportDamaged(path, 'it is too long')
  const bytes = await readFile(path)
  if (hash('sha256', bytes) !== piece.sha256) throw new ExportDamaged(path, 'its digest is not that in the manifest')
  try {
    const text = (await decompress(bytes, { maxOutputLength: exportPieceBytesMax })).toString()
    const rows = text
      .split('\n')
      .slice(0, -1)
      .map((line) => rowOf(line, columns))
    if (rows.length === piece.rows) return rows
  } catch (error) {
    throw new ExportDamaged(path, error instanceof Error ? error.message : String(error))
  }
  throw new ExportDamaged(path, `the manifest says that it has ${piece.rows} rows`)
}

/** A blob that an export names. */
export interface NamedBlob {
  readonly digest: Sha256
  /** What the store calls it: the one that it comes from, and the one that it goes to. */
  readonly name: BlobName
  readonly bytes: number
}

/** The blobs whose bytes are there, according to the rows of an export: in the order of their digests. */
export async function* namedBlobs(
  folder: ExportFolder,
  tables: Manifest['tables'],
  columns: readonly string[],
): AsyncGenerator<NamedBlob> {
  for (const piece of tables.find(({ name }) => name === 'blobs')?.pieces ?? [])
    for (const { sha256, size, state, generation } of await readPiece(folder, piece, columns)) {
      if (state !== 'stored') continue
      const digest = toSha256(String(sha256))
      yield { digest, name: blobName(digest, String(generation)), bytes: Number(size) }
    }
}

/** Blobs together by the first two characters of their digests, which are the folder that they lie in. */
export async function* byPart(blobs: AsyncIterable<NamedBlob>): AsyncGenerator<readonly [string, NamedBlob[]]> {
  let together: NamedBlob[] = []
  let part = ''
  for await (const blob of blobs) {
    const next = blob.digest.slice(0, 2)
    if (next !== part && together.length > 0) {
      yield [part, together]
      together = []
    }
    part = next
    together.push(blob)
  }
  if (together.length > 0) yield [part, together]
}
