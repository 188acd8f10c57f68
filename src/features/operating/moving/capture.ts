import { type HoldDeps, withHold } from '../../../content/reclaim/holds.ts'
import { currentSchema } from '../../../database/migrate.ts'
import { installation } from '../../../database/moving/installation.queries.ts'
import { columnsOf } from '../../../database/moving/rows.queries.ts'
import { movedTexts } from '../../../database/moving/rows.ts'
import { movingTables } from '../../../database/moving/tables.ts'
import { timestamp } from '../../../kernel/clock.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { exportReadAgainDays } from '../../../kernel/limits/engines.ts'
import { day } from '../../../kernel/units.ts'
import type { Vault } from '../../../ports/vault.ts'
import { type Copied, type CopyDeps, copyBlobs, dropBlobs, planCopies } from './capture-blobs.ts'
import { claimToCapture } from './claiming.ts'
import { manifestName } from './layout.ts'
import { type ExportedTable, manifestText } from './manifest.ts'
import { namedBlobs } from './named-blobs.ts'
import { writePieces } from './pieces.ts'
import type { Progress } from './progress.ts'

export interface CaptureDeps extends HoldDeps, CopyDeps {
  readonly vault: Vault
  readonly reach: ReachFaultPoint
  /** Version of the program, which the manifest tells. */
  readonly program: string
}

export interface CaptureWish {
  readonly withoutBytes: boolean
  /** Brings a finished export up to date instead of refusing its vault. */
  readonly refresh: boolean
  /** Reads again everything that is kept, and not only the share of the day. */
  readonly verify: boolean
}

export interface Captured extends Copied {
  readonly rows: number
  readonly blobs: number
  readonly bytes: number
  /** Blobs that were in the vault already. */
  readonly kept: number
}

/**
 * Writes the whole catalog to a vault while the service runs.
 *
 * Order: hold reclaim back -> one state of all tables -> the bytes that this state names, hashed while they are copied
 * -> the manifest (I6, I7). A crash leaves a vault without a manifest; going on takes a new state of the tables, and
 * copies only the bytes that are not there yet. What is there may rot: of it a share is read again each time, or all
 * that is wished for.
 */
export const capture = async (deps: CaptureDeps, wish: CaptureWish, progress: Progress): Promise<Captured> => {
  const { database, vault } = deps
  const { identity } = await installation(database.reader)
  const claim = await claimToCapture(vault, identity, wish.refresh)
  try {
    if (wish.withoutBytes) return await write(deps, identity, wish, null, progress)
    return await withHold(deps, `export to ${vault.where}`, (checkHold) =>
      write(deps, identity, wish, checkHold, progress),
    )
  } finally {
    await claim[Symbol.asyncDispose]()
  }
}

const write = async (
  deps: CaptureDeps,
  source: string,
  { verify }: CaptureWish,
  checkHold: (() => void) | null,
  progress: Progress,
): Promise<Captured> => {
  const { database, vault, reach, program } = deps
  const { tables, takenAt } = await writeTables(deps, progress)
  reach('export.rows')
  const columns = await columnsOf(database.reader, database.engine, 'blobs')
  const named = () => namedBlobs(vault, tables, columns)
  const plan = await planCopies(vault, named(), checkHold !== null)
  let copied: Copied = { readAgain: 0, replaced: 0 }
  const readsAgain = (part: string): boolean => verify || isReadOn(takenAt, part)
  if (checkHold === null) await dropBlobs(vault)
  else copied = await copyBlobs(deps, plan, named(), readsAgain, checkHold, progress)
  reach('export.copied')
  const { blobs, bytes, kept } = plan
  const manifest = manifestText({
    format: 'svc-export',
    formatVersion: 1,
    schema: await currentSchema(database),
    program,
    source,
    takenAt: timestamp(takenAt),
    bytes: checkHold === null ? 'left out' : 'included',
    blobs: { count: blobs, bytes },
    tables,
  })
  await vault.seal(manifestName, Buffer.from(manifest))
  return { rows: tables.reduce((sum, table) => sum + table.rows, 0), blobs, bytes, kept, ...copied }
}

/** Whether a part is in the share of a day: nobody has to remember what was read before. */
const isReadOn = (atMs: number, part: string): boolean =>
  Number.parseInt(part, 16) % exportReadAgainDays === Math.floor(atMs / day) % exportReadAgainDays

const writeTables = async (
  { database, vault, clock, reach }: CaptureDeps,
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
    for (const table of movingTables())
      tables.push(await writePieces(vault, table.name, movedTexts(q, database.engine, table), written))
    return { tables, takenAt }
  })
}
