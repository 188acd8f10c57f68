import { createHash, hash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { Row } from '../../../database/moving/rows.queries.ts'
import { refuseUnreadable, rowOf } from '../../../database/moving/rows.ts'
import { exportPieceBytesMax, exportPieceCharacters, exportPieceRows } from '../../../kernel/limits/engines.ts'
import { type Vault, VaultFailure } from '../../../ports/vault.ts'
import { toVaultName, type VaultName } from '../../../ports/vault-name.ts'
import type { ExportedTable, Piece } from './manifest.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** A file of an export is not what the manifest says. */
export class ExportDamaged extends Error {
  override readonly name = 'ExportDamaged'
  constructor(vault: Pick<Vault, 'where' | 'whereIs'>, name: VaultName, why: string) {
    super(
      `${vault.whereIs(name)} is damaged: ${why}. Copy it again, or run svc export --refresh --verify ${vault.where} where its database is.`,
    )
  }
}

/** Writes the texts of rows as files of bounded length: one row a line, compressed. */
export const writePieces = async (
  vault: Vault,
  table: string,
  pages: AsyncIterable<readonly string[]>,
  written: (rows: number) => void,
): Promise<ExportedTable> => {
  const pieces: Piece[] = []
  let lines: string[] = []
  let characters = 0
  const flush = async (): Promise<void> => {
    const file = `tables/${table}-${String(pieces.length + 1).padStart(6, '0')}.ndjson.zst`
    const text = Buffer.from(`${lines.join('\n')}\n`)
    refuseUnreadable(text)
    const bytes = await compress(text)
    await vault.write(toVaultName(file), (take) => take(bytes))
    pieces.push({ file, rows: lines.length, sha256: createHash('sha256').update(bytes).digest('hex') })
    written(lines.length)
    lines = []
    characters = 0
  }
  for await (const page of pages)
    for (const line of page) {
      lines.push(line)
      characters += line.length
      if (lines.length >= exportPieceRows || characters >= exportPieceCharacters) await flush()
    }
  if (lines.length > 0) await flush()
  return { name: table, rows: pieces.reduce((sum, piece) => sum + piece.rows, 0), pieces }
}

/** The rows of a file. Throws {@link ExportDamaged}. */
export const readPiece = async (vault: Vault, piece: Piece, columns: readonly string[]): Promise<Row[]> => {
  const name = toVaultName(piece.file)
  try {
    const bytes = await vault.read(name, exportPieceBytesMax)
    if (bytes === null) throw new ExportDamaged(vault, name, 'it is missing')
    if (hash('sha256', bytes) !== piece.sha256)
      throw new ExportDamaged(vault, name, 'its digest is not that in the manifest')
    const text = (await decompress(bytes, { maxOutputLength: exportPieceBytesMax })).toString()
    const rows = text
      .split('\n')
      .slice(0, -1)
      .map((line) => rowOf(line, columns))
    if (rows.length === piece.rows) return rows
  } catch (error) {
    if (error instanceof ExportDamaged) throw error
    if (error instanceof VaultFailure)
      throw error.trouble === 'damaged' ? new ExportDamaged(vault, name, error.why) : error
    throw new ExportDamaged(vault, name, error instanceof Error ? error.message : String(error))
  }
  throw new ExportDamaged(vault, name, `the manifest says that it has ${piece.rows} rows`)
}
