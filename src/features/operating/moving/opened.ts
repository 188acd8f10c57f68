import type { Database } from '../../../database/database.ts'
import { currentSchema } from '../../../database/migrate.ts'
import { columnsOf, type Row } from '../../../database/moving/rows.queries.ts'
import { movingTables, type TableName } from '../../../database/moving/tables.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import type { Vault } from '../../../ports/vault.ts'
import { type ExportedTable, type Manifest, manifestIn, type Piece } from './manifest.ts'
import { type NamedBlob, namedBlobs } from './named-blobs.ts'
import { readPiece } from './pieces.ts'

/** A finished export, as far as a database of this program can take it. */
export interface OpenedExport {
  readonly vault: Vault
  readonly manifest: Manifest
  /** In an order in which every row finds what it refers to. */
  readonly tables: readonly OpenedTable[]
  /** Whether the bytes are in the vault, or to be in the store. */
  readonly withBytes: boolean
  /** Every stored blob that it names, in the order of their digests. */
  blobs(): AsyncIterable<NamedBlob>
}

export interface OpenedTable extends ExportedTable {
  readonly name: TableName
  readonly columns: readonly string[]
}

/** Refuses an export of another schema, with the version that can take it. */
export const openExport = async (vault: Vault, database: Database): Promise<OpenedExport> => {
  const manifest = await manifestIn(vault)
  checkSchema(manifest, await currentSchema(database))
  const tables: OpenedTable[] = []
  for (const { name } of movingTables()) {
    const table = manifest.tables.find((each) => each.name === name)
    if (table === undefined) throw invalid(name, 'is missing in the manifest')
    tables.push({ ...table, name, columns: await columnsOf(database.reader, database.engine, name) })
  }
  const columns = tables.find(({ name }) => name === 'blobs')?.columns ?? []
  return {
    vault,
    manifest,
    tables,
    withBytes: manifest.bytes === 'included',
    blobs: () => namedBlobs(vault, manifest.tables, columns),
  }
}

export const rowsOf = ({ vault }: OpenedExport, { columns }: OpenedTable, piece: Piece): Promise<Row[]> =>
  readPiece(vault, piece, columns)

const checkSchema = (manifest: Manifest, schema: number): void => {
  if (manifest.schema < schema)
    throw new Failure(
      'invalid_request',
      `The export was made by svc ${manifest.program} with schema ${manifest.schema}; this program has schema ${schema}. Import it with svc ${manifest.program}, then start this version on the new database, which brings it up to date.`,
    )
  if (manifest.schema > schema)
    throw new Failure(
      'invalid_request',
      `The export was made by svc ${manifest.program} with schema ${manifest.schema}; this program knows schema ${schema} and older. Import it with svc ${manifest.program} or newer.`,
    )
  const known = movingTables().map(({ name }) => name)
  if (manifest.tables.map(({ name }) => name).join() !== known.join())
    throw new Failure('invalid_request', 'The export does not have the tables of its schema, so svc did not write it.')
}
