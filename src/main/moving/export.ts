import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readWhole } from '../../content/checks/copies.ts'
import { withHold } from '../../content/reclaim/holds.ts'
import { currentSchema } from '../../database/migrate.ts'
import { installation } from '../../database/moving/installation.queries.ts'
import { columnsOf } from '../../database/moving/rows.queries.ts'
import { movedRows } from '../../database/moving/rows.ts'
import { movingTables } from '../../database/moving/tables.ts'
import { atOnce } from '../../kernel/at-once.ts'
import { timestamp } from '../../kernel/clock.ts'
import { Failure } from '../../kernel/failure.ts'
import { exportBlobsAtOnce } from '../../kernel/limits/engines.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import { realTimers } from '../../kernel/timers.ts'
import { syncDirectory, writeNamed } from '../durable-file.ts'
import type { Parts } from '../parts.ts'
import { programVersion } from '../version.ts'
import { ExportFolder, sizeOf } from './folder.ts'
import type { ExportedTable, ManifestContent } from './manifest.ts'
import { byPart, type NamedBlob, namedBlobs, writePieces } from './pieces.ts'
import type { Progress } from './progress.ts'

export interface ExportWish {
  readonly path: string
  readonly withoutBytes: boolean
  /** Brings a finished export up to date instead of refusing its folder. */
  readonly refresh: boolean
}

export interface Exported {
  readonly rows: number
  readonly blobs: number
  readonly bytes: number
  /** Blobs that were in the folder already. */
  readonly kept: number
}

/** Bytes that rows call stored and that are not there, or not what they are called: the first of them, in words. */
export class SourceDamaged extends Error {
  override readonly name = 'SourceDamaged'
  readonly faults: readonly string[]
  constructor(faults: readonly string[], count: number) {
    super(
      `${count} stored files are missing or damaged, so the export is not finished. svc doctor and svc scrub tell more; --without-bytes exports the catalog alone.`,
    )
    this.faults = faults
  }
}

/**
 * Writes the whole catalog to a folder while the service runs.
 *
 * Order: hold reclaim back -> one state of all tables -> the bytes that this state names, hashed while they are copied ->
 * the manifest (I6, I7). A crash leaves a folder without a manifest; going on takes a new state of the tables, and copies
 * only the bytes that are not there yet.
 */
export const exportCatalog = async (parts: Parts, wish: ExportWish, progress: Progress): Promise<Exported> => {
  const { database } = parts
  const folder = new ExportFolder(wish.path)
  const { identity } = await installation(database.reader)
  const lock = await folder.begin(identity, wish.refresh)
  try {
    if (wish.withoutBytes) return await write(parts, folder, identity, null, progress)
    return await withHold({ ...parts, timers: realTimers }, `export to ${folder.path}`, (check) =>
      write(parts, folder, identity, check, progress),
    )
  } finally {
    lock[Symbol.dispose]()
  }
}

const write = async (
  parts: Parts,
  folder: ExportFolder,
  source: string,
  checkHold: (() => void) | null,
  progress: Progress,
): Promise<Exported> => {
  const { database, clock } = parts
  const { tables, takenAt } = await writeTables(parts, folder, progress)
  parts.reach('export.rows')
  const columns = await columnsOf(database.reader, database.engine, 'blobs')
  const named = () => namedBlobs(folder, tables, columns)
  const plan = await planCopies(folder, named(), checkHold !== null)
  if (checkHold !== null) await copyBlobs(parts, folder, plan, named(), checkHold, progress)
  else for (const part of await folder.parts()) await folder.keepOnly(part, new Set())
  parts.reach('export.copied')
  const content: ManifestContent = {
    format: 'svc-export',
    formatVersion: 1,
    schema: await currentSchema(database),
    program: programVersion(),
    source,
    takenAt: timestamp(takenAt ?? clock.now()),
    bytes: checkHold === null ? 'left out' : 'included',
    blobs: { count: plan.blobs, bytes: plan.bytes },
    tables,
  }
  await folder.finish(content)
  const { blobs, bytes, kept } = plan
  return { rows: tables.reduce((sum, table) => sum + table.rows, 0), blobs, bytes, kept }
}

const writeTables = async (
  { database, clock, reach }: Parts,
  folder: ExportFolder,
  progress: Progress,
): Promise<{ tables: ExportedTable[]; takenAt: number }> => {
  let rows = 0
  const written = (more: number): void => {
    rows += more
    progress.tell(() => `${rows} rows written`)
    reach('export.piece')
  }
  return await database.snapshot(async (q) => {
    const takenAt = clock.now()
    const tables: ExportedTable[] = []
    for (const table of movingTables()) tables.push(await writePieces(folder, table.name, movedRows(q, table), written))
    return { tables, takenAt }
  })
}

interface Plan {
  readonly blobs: number
  readonly bytes: number
  /** Blobs that the folder holds already. */
  readonly kept: number
  readonly missingBytes: number
}

/** Counts what is to be copied, and refuses before it begins when the disk has no room for it. */
const planCopies = async (folder: ExportFolder, named: AsyncIterable<NamedBlob>, copying: boolean): Promise<Plan> => {
  const plan = { blobs: 0, bytes: 0, kept: 0, missingBytes: 0 }
  for await (const { digest, bytes } of named) {
    plan.blobs += 1
    plan.bytes += bytes
    if (!copying) continue
    if ((await sizeOf(folder.blob(digest))) === bytes) plan.kept += 1
    else plan.missingBytes += bytes
  }
  const freeBytes = await folder.freeBytes()
  if (copying && plan.missingBytes > freeBytes)
    throw new Failure(
      'insufficient_space',
      `${folder.path}: ${plan.missingBytes} bytes are to be copied there, and only ${freeBytes} are free. Make room and go on with the same command.`,
    )
  return plan
}

const copyBlobs = async (
  parts: Parts,
  folder: ExportFolder,
  plan: Plan,
  named: AsyncIterable<NamedBlob>,
  checkHold: () => void,
  progress: Progress,
): Promise<void> => {
  const faults: string[] = []
  let [faulty, done, doneBytes] = [0, 0, 0]
  const copy = async (blob: NamedBlob): Promise<void> => {
    checkHold()
    const path = folder.blob(blob.digest)
    if ((await sizeOf(path)) !== blob.bytes) {
      const fault = await copyOut(parts, path, blob)
      if (fault !== null) {
        faulty += 1
        if (faults.length < findingsMax) faults.push(`blob ${blob.digest}: ${fault}`)
      }
      parts.reach('export.blob')
    }
    done += 1
    doneBytes += blob.bytes
    progress.tell(() => `${done} of ${plan.blobs} files, ${doneBytes} of ${plan.bytes} bytes`)
  }
  const seen = new Set<string>()
  for await (const [part, blobs] of byPart(named)) {
    seen.add(part)
    const path = dirname(folder.blob(part))
    await mkdir(path, { recursive: true, mode: 0o700 })
    await folder.keepOnly(part, new Set(blobs.map(({ digest }) => digest)))
    await atOnce(blobs, exportBlobsAtOnce, copy)
    await syncDirectory(path)
  }
  for (const part of await folder.parts()) if (!seen.has(part)) await folder.keepOnly(part, new Set())
  if (faulty > 0) throw new SourceDamaged(faults, faulty)
}

/** Thrown to keep a file from getting its name. */
class NotWhole extends Error {}

/** Copies one blob; what is wrong with it, or null. */
const copyOut = async ({ store }: Parts, path: string, blob: NamedBlob): Promise<string | null> => {
  let fault: string | null = null
  try {
    await writeNamed(path, async (handle) => {
      fault = await readWhole(store, blob, async (piece) => {
        await handle.writeFile(piece)
      })
      if (fault !== null) throw new NotWhole(fault)
    })
  } catch (error) {
    if (!(error instanceof NotWhole)) throw error
  }
  return fault
}
