import type { Row } from '../../../database/moving/rows.queries.ts'
import { movingTables } from '../../../database/moving/tables.ts'
import { Failure } from '../../../kernel/failure.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { blobInVault, manifestName } from './layout.ts'
import { byPart, keptIn } from './named-blobs.ts'
import { type OpenedExport, type OpenedTable, rowsOf } from './opened.ts'
import { ExportDamaged } from './pieces.ts'
import type { Progress } from './progress.ts'
import type { StoringDeps } from './restorable.ts'
import { refuseUnlessStoreTakes } from './restore-blobs.ts'

/** Files that an export names and that are not where they should be: the first of them, in words. */
export class BytesMissing extends Error {
  override readonly name = 'BytesMissing'
  readonly faults: readonly string[]
  constructor(faults: readonly string[], count: number, where: string, advice: string) {
    super(
      `${count} files that the export names are missing ${where}, or have another length. Nothing was imported. ${advice}`,
    )
    this.faults = faults
  }
}

/** Reads every file of rows and looks for every file of bytes, so that a damaged export changes nothing. */
export const checkExport = async (opened: OpenedExport, deps: StoringDeps, progress: Progress): Promise<void> => {
  await checkRows(opened, deps, progress)
  await checkBlobs(opened, deps, progress)
}

const damagedManifest = ({ vault }: OpenedExport, why: string): ExportDamaged =>
  new ExportDamaged(vault, manifestName, why)

const checkRows = async (
  opened: OpenedExport,
  { database }: Pick<StoringDeps, 'database'>,
  progress: Progress,
): Promise<void> => {
  for (const table of opened.tables) {
    let counted = 0
    for (const piece of table.pieces) {
      const rows = await rowsOf(opened, table, piece)
      if (database.engine === 'postgres') for (const row of rows) refuseUnheld(table, row)
      counted += rows.length
      progress.tell(() => `checked ${piece.file}`)
    }
    if (counted !== table.rows)
      throw damagedManifest(opened, `it counts ${table.rows} rows of ${table.name}, its files have ${counted}`)
  }
}

/** PostgreSQL has no text with a zero character; SQLite may have one from before svc refused it at every door. */
const refuseUnheld = ({ name }: OpenedTable, row: Row): void => {
  for (const [column, value] of Object.entries(row)) {
    if (typeof value !== 'string' || !value.includes('\0')) continue
    const key = movingTables().find((table) => table.name === name)?.key ?? []
    throw new Failure(
      'invalid_request',
      `${name}: ${column} of ${key.map((part) => row[part]).join(' ')} has a zero character, which PostgreSQL cannot hold. Nothing was imported. Delete what the row is about in the service that was exported, and export it again.`,
    )
  }
}

const checkBlobs = async (
  opened: OpenedExport,
  { store, freeSpace }: StoringDeps,
  progress: Progress,
): Promise<void> => {
  const { vault, manifest, withBytes } = opened
  const looksForRoom = withBytes && (await store.space()) !== null
  const faults: string[] = []
  let [blobs, bytes, faulty, wanted] = [0, 0, 0, 0]
  for await (const [part, together] of byPart(opened.blobs())) {
    const kept = withBytes ? await keptIn(vault, part) : null
    for (const blob of together) {
      blobs += 1
      bytes += blob.bytes
      const there = kept === null ? await store.size(blob.name) : (kept.get(blobInVault(blob.digest)) ?? null)
      if (there !== blob.bytes) {
        faulty += 1
        const what = there === null ? 'is missing' : `has ${there} bytes instead of ${blob.bytes}`
        if (faults.length < findingsMax) faults.push(`blob ${blob.digest} ${what}`)
      }
      if (looksForRoom && (await store.size(blob.name)) !== blob.bytes) wanted += blob.bytes
      progress.tell(() => `checked ${blobs} of ${manifest.blobs.count} files`)
    }
  }
  if (faulty > 0 && withBytes)
    throw new BytesMissing(
      faults,
      faulty,
      `in ${vault.where}`,
      `Copy them again, or run svc export --refresh ${vault.where} where its database is.`,
    )
  if (faulty > 0) throw new BytesMissing(faults, faulty, 'in the store', 'Set SVC_BLOB_STORE to the one that has them.')
  if (blobs !== manifest.blobs.count || bytes !== manifest.blobs.bytes)
    throw damagedManifest(opened, 'it counts other files than its tables name')
  await refuseUnlessStoreTakes(freeSpace, wanted)
}
