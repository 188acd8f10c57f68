import { CopyDamaged, copyIn, holdsWhole } from '../../content/checks/copies.ts'
import { adoptStore, foreignOwner } from '../../content/claims/ownership.ts'
import type { Database } from '../../database/database.ts'
import { currentSchema } from '../../database/migrate.ts'
import { installation, lockInstallation, updateInstallation } from '../../database/moving/installation.queries.ts'
import {
  columnsOf,
  emptyTables,
  firstFilledTable,
  insertRows,
  rebuildDerived,
} from '../../database/moving/rows.queries.ts'
import { movingTables, type TableName } from '../../database/moving/tables.ts'
import { makeAllKnown } from '../../features/catalog/search/entries.ts'
import { atOnce } from '../../kernel/at-once.ts'
import { Failure, invalid } from '../../kernel/failure.ts'
import type { Finding } from '../../kernel/finding.ts'
import { exportBlobsAtOnce, importBlobsBatch, importBytesBatch } from '../../kernel/limits/engines.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import { everyCheck } from '../every-check.ts'
import type { Parts } from '../parts.ts'
import { ExportFolder, sizeOf } from './folder.ts'
import type { Manifest } from './manifest.ts'
import { ExportDamaged, type NamedBlob, namedBlobs, readPiece } from './pieces.ts'
import type { Progress } from './progress.ts'

export interface Imported {
  readonly rows: number
  readonly blobs: number
  readonly bytes: number
  /** What the doctor found. With damage the import is not finished. */
  readonly findings: readonly Finding[]
}

/** Files that an export names and that are not where they should be: the first of them, in words. */
export class BytesMissing extends Error {
  override readonly name = 'BytesMissing'
  readonly faults: readonly string[]
  constructor(faults: readonly string[], count: number, where: string) {
    super(`${count} files that the export names are missing ${where}, or have another length. Nothing was imported.`)
    this.faults = faults
  }
}

type Columns = ReadonlyMap<TableName, readonly string[]>

/**
 * Puts an export into an empty database, and its bytes into the store.
 *
 * Order: everything that can be known without writing is checked -> the database says that it is being imported into, and
 * no service runs on it -> bytes (I1) -> rows, each file in one transaction with the row that counts it -> the doctor ->
 * the database says so no more. A crash leaves how far it was; the same command goes on from there.
 */
export const importCatalog = async (parts: Parts, path: string, progress: Progress): Promise<Imported> => {
  const folder = new ExportFolder(path)
  const lock = await folder.reading()
  try {
    return await importFrom(parts, folder, progress)
  } finally {
    lock[Symbol.dispose]()
  }
}

const importFrom = async (parts: Parts, folder: ExportFolder, progress: Progress): Promise<Imported> => {
  const { database } = parts
  const manifest = await folder.manifest()
  checkSchema(manifest, await currentSchema(database))
  const columns = await columnsOfTables(database)
  const begun = await refuseUnlessOurs(database, manifest)
  const strange = manifest.bytes === 'included' ? await foreignOwner(parts) : null
  if (strange !== null)
    throw new Failure('already_exists', `${strange} An export with its bytes goes into a store of its own.`)
  if (!begun) await checkExport(parts, folder, manifest, columns, progress)
  await begin(database, manifest)
  parts.reach('import.begun')
  if (manifest.bytes === 'included') await importBlobs(parts, folder, manifest, columns, progress)
  await importRows(parts, folder, manifest, columns, progress)
  await makeAllKnown(database)
  await database.transaction((tx) => rebuildDerived(tx, database.engine))
  parts.reach('import.rows')
  // Bytes that were left out may be those of the source: from now on the store belongs to this database.
  await adoptStore(parts)
  const findings: Finding[] = []
  for await (const finding of everyCheck(parts)) findings.push(finding)
  if (!findings.some(({ kind }) => kind === 'damage'))
    await database.transaction((tx) => updateInstallation(tx, { importing: null }))
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  return { rows, blobs: manifest.blobs.count, bytes: manifest.blobs.bytes, findings }
}

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

const columnsOfTables = async (database: Database): Promise<Columns> => {
  const columns = new Map<TableName, readonly string[]>()
  for (const { name } of movingTables()) columns.set(name, await columnsOf(database.reader, database.engine, name))
  return columns
}

const of = (columns: Columns, table: TableName): readonly string[] => columns.get(table) ?? []

/** Whether this very import was begun before. Throws when the database has something else in it. */
const refuseUnlessOurs = async (database: Database, manifest: Manifest): Promise<boolean> => {
  const { importing } = await installation(database.reader)
  if (importing === manifest.digest) return true
  await database.snapshot((q) => refuseUnlessEmpty(importing, () => firstFilledTable(q)))
  return false
}

const refuseUnlessEmpty = async (importing: string | null, filled: () => Promise<string | null>): Promise<void> => {
  if (importing !== null)
    throw new Failure(
      'already_exists',
      'The import of another export into this database is not finished. Go on with that one, or begin with a new database.',
    )
  const table = await filled()
  if (table !== null)
    throw new Failure(
      'already_exists',
      `The database is not empty: there is something in ${table}. An export goes only into a new database; set SVC_DATABASE_URL to one.`,
    )
}

/** Says in the database that it is being imported into, and takes out what a first start made. */
const begin = (database: Database, manifest: Manifest): Promise<void> =>
  database.transaction(async (tx) => {
    const { importing } = await lockInstallation(tx)
    if (importing === manifest.digest) return
    await refuseUnlessEmpty(importing, () => firstFilledTable(tx))
    await emptyTables(tx)
    await updateInstallation(tx, { importing: manifest.digest, imported_through: '', imported_pieces: 0 })
  })

/** Reads every file of rows and looks for every file of bytes, so that a damaged export changes nothing. */
const checkExport = async (
  { store, freeSpace }: Parts,
  folder: ExportFolder,
  manifest: Manifest,
  columns: Columns,
  progress: Progress,
): Promise<void> => {
  for (const { name, rows, pieces } of movedTables(manifest)) {
    let counted = 0
    for (const piece of pieces) {
      counted += (await readPiece(folder, piece, of(columns, name))).length
      progress.tell(() => `checked ${piece.file}`)
    }
    if (counted !== rows)
      throw new ExportDamaged(folder.manifestPath, `it counts ${rows} rows of ${name}, its files have ${counted}`)
  }
  const included = manifest.bytes === 'included'
  const looksForRoom = included && (await store.space()) !== null
  const faults: string[] = []
  let [blobs, bytes, faulty, wanted] = [0, 0, 0, 0]
  for await (const blob of namedBlobs(folder, manifest.tables, of(columns, 'blobs'))) {
    blobs += 1
    bytes += blob.bytes
    const there = included ? await sizeOf(folder.blob(blob.digest)) : await store.size(blob.name)
    if (there !== blob.bytes) {
      faulty += 1
      const what = there === null ? 'is missing' : `has ${there} bytes instead of ${blob.bytes}`
      if (faults.length < findingsMax) faults.push(`blob ${blob.digest} ${what}`)
    }
    if (looksForRoom && (await store.size(blob.name)) !== blob.bytes) wanted += blob.bytes
    progress.tell(() => `checked ${blobs} of ${manifest.blobs.count} files`)
  }
  if (faulty > 0) throw new BytesMissing(faults, faulty, included ? `in ${folder.path}` : 'in the store')
  if (blobs !== manifest.blobs.count || bytes !== manifest.blobs.bytes)
    throw new ExportDamaged(folder.manifestPath, 'it counts other files than its tables name')
  await refuseUnlessRoomFor(freeSpace, wanted)
}

const movedTables = (manifest: Manifest) =>
  movingTables().map(({ name }) => {
    const table = manifest.tables.find((each) => each.name === name)
    if (table === undefined) throw invalid(name, 'is missing in the manifest')
    return { ...table, name }
  })

/** Copies what the store does not hold, and remembers now and then how far it is. */
const importBlobs = async (
  parts: Parts,
  folder: ExportFolder,
  manifest: Manifest,
  columns: Columns,
  progress: Progress,
): Promise<void> => {
  const { database, store } = parts
  const through = (await installation(database.reader)).imported_through
  let batch: NamedBlob[] = []
  let [batchBytes, done] = [0, 0]
  const copy = async (blob: NamedBlob): Promise<void> => {
    // What is there may be from before a crash, or of another: it is as good as a copy if its bytes are right.
    if (!(await holdsWhole(store, blob))) await copyBlob(parts, folder, blob)
    parts.reach('import.blob')
    done += 1
    progress.tell(() => `${done} of ${manifest.blobs.count} files stored`)
  }
  const flush = async (): Promise<void> => {
    const last = batch.at(-1)
    if (last === undefined) return
    await atOnce(batch, exportBlobsAtOnce, copy)
    await database.transaction(async (tx) => {
      await stillOurs(tx, manifest)
      await updateInstallation(tx, { imported_through: last.digest })
    })
    parts.reach('import.blobs')
    batch = []
    batchBytes = 0
  }
  for await (const blob of namedBlobs(folder, manifest.tables, of(columns, 'blobs'))) {
    if (blob.digest <= through) {
      done += 1
      continue
    }
    batch.push(blob)
    batchBytes += blob.bytes
    if (batch.length >= importBlobsBatch || batchBytes >= importBytesBatch) await flush()
  }
  await flush()
}

const refuseUnlessRoomFor = async (freeSpace: Parts['freeSpace'], bytes: number): Promise<void> => {
  try {
    await freeSpace.refuseUnlessRoomFor(bytes)
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'insufficient_space')) throw error
    throw new Failure(
      'insufficient_space',
      `The store has no room for the ${bytes} bytes that are to be copied there. ${error.message} Make room and go on with the same command.`,
      { cause: error },
    )
  }
}

const copyBlob = async ({ store, freeSpace }: Parts, folder: ExportFolder, blob: NamedBlob): Promise<void> => {
  await refuseUnlessRoomFor(freeSpace, blob.bytes)
  try {
    await copyIn(store, blob, folder.open(blob.digest))
  } catch (error) {
    if (error instanceof CopyDamaged) throw new ExportDamaged(folder.blob(blob.digest), error.message)
    throw error
  }
}

const stillOurs = async (tx: Parameters<typeof lockInstallation>[0], manifest: Manifest) => {
  const row = await lockInstallation(tx)
  if (row.importing !== manifest.digest)
    throw new Failure('already_exists', 'Another svc import has meanwhile ended this one.')
  return row
}

/** Each file of rows in one transaction, which counts it: it is there once, whoever dies when. */
const importRows = async (
  parts: Parts,
  folder: ExportFolder,
  manifest: Manifest,
  columns: Columns,
  progress: Progress,
): Promise<void> => {
  const { database } = parts
  const done = (await installation(database.reader)).imported_pieces
  const pieces = movedTables(manifest).flatMap(({ name, pieces: files }) => files.map((piece) => ({ name, piece })))
  for (const [index, { name, piece }] of pieces.entries()) {
    if (index < done) continue
    const rows = await readPiece(folder, piece, of(columns, name))
    await database.transaction(async (tx) => {
      if ((await stillOurs(tx, manifest)).imported_pieces !== index)
        throw new Failure('already_exists', 'Another svc import is at work in this database.')
      await insertRows(tx, name, of(columns, name), rows)
      await updateInstallation(tx, { imported_pieces: index + 1 })
    })
    parts.reach('import.piece')
    progress.tell(() => `${index + 1} of ${pieces.length} files of rows imported`)
  }
}
