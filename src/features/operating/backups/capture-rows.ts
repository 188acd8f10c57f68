import type { Database } from '../../../database/database.ts'
import { columnsOf } from '../../../database/moving/rows.queries.ts'
import { movedTexts, refuseUnreadable } from '../../../database/moving/rows.ts'
import { movingTables } from '../../../database/moving/tables.ts'
import { atOnce } from '../../../kernel/at-once.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { backupChunksAtOnce, chunkBytesMax } from '../../../kernel/limits/backups.ts'
import type { OpenSpool, Spool } from '../../../ports/spool.ts'
import {
  type Chunk,
  ChunkCutter,
  type ChunkForm,
  chunkBefore,
  type KnownChunks,
  storedChunk,
  writeChunk,
} from './chunks.ts'
import { compressedWhole, decompressedWhole } from './coding.ts'
import type { Room } from './data-files.ts'
import { formOf } from './layout.ts'
import type { BackedUpTable } from './manifest.ts'

interface RowDeps {
  readonly database: Pick<Database, 'engine' | 'snapshot'>
  readonly spool: OpenSpool
  readonly clock: Clock
  readonly reach: ReachFaultPoint
}

/** A chunk that the vault does not have, as far as is known: where its text is in the spool, compressed. */
interface Waiting {
  readonly lines: number
  readonly start: number
  readonly bytes: number
}

interface CutTable extends Omit<BackedUpTable, 'chunks'> {
  readonly cuts: readonly (Chunk | Waiting)[]
}

interface TakenRows {
  readonly snapshotAtMs: number
  readonly tables: BackedUpTable[]
  readonly newBytes: number
}

/** What the service itself reads again: which blobs there are, and what repositories took. */
const ofService: ReadonlySet<string> = new Set(['blobs', 'repositories'])

const formOfTable = (name: string): ChunkForm => ({
  kind: 'rows',
  readers: ofService.has(name) ? 'service' : 'operators',
})

/**
 * Writes one state of all tables. `goOn` throws where it is to stop.
 *
 * Order: how the chunks of the point before lie in the vault is looked up -> one state of all tables is read, and what
 * is new of it is spooled on this machine -> the state is given back -> what was spooled goes to the vault. So the
 * state is held for as long as reading takes, however slow the vault is, and the log of the database does not grow for
 * it.
 */
export const captureRows = async (
  deps: RowDeps,
  room: Room,
  known: KnownChunks,
  goOn: () => void,
): Promise<TakenRows> => {
  const sizes = await sizesOf(room, known)
  const spool = await deps.spool()
  try {
    const { snapshotAtMs, cut } = await cutRows(deps, room, known, { sizes, spool, goOn })
    return { snapshotAtMs, ...(await writeCut(deps, room, known, { cut, spool, goOn })) }
  } finally {
    await spool[Symbol.asyncDispose]()
  }
}

interface Writing {
  readonly cut: readonly CutTable[]
  readonly spool: Spool
  readonly goOn: () => void
}

/** Brings what is new of the tables from the spool to the vault. */
const writeCut = async (
  { reach }: RowDeps,
  room: Room,
  known: KnownChunks,
  { cut, spool, goOn }: Writing,
): Promise<Omit<TakenRows, 'snapshotAtMs'>> => {
  const tables: BackedUpTable[] = []
  let newBytes = 0
  for (const { cuts, ...table } of cut) {
    const chunks: Chunk[] = []
    await atOnce(cuts, backupChunksAtOnce, async (each, index) => {
      goOn()
      if (!('start' in each)) {
        chunks[index] = each
        return
      }
      const text = await decompressedWhole(await spool.read(each.start, each.bytes), chunkBytesMax)
      const written = await writeChunk(room, formOfTable(table.name), known, text, each.lines)
      chunks[index] = written.chunk
      newBytes += written.newBytes
    })
    tables.push({ ...table, chunks })
    reach('backup.table')
  }
  return { tables, newBytes }
}

/** How long those chunks of rows are by now that the point before names. */
const sizesOf = async ({ vault }: Room, { before }: KnownChunks): Promise<ReadonlyMap<string, number | null>> => {
  const sizes = new Map<string, number | null>()
  const names = [...before.values()].map((chunk) => storedChunk(chunk).name)
  const rows = names.filter((name) => formOf(name).kind === 'rows')
  await atOnce(rows, backupChunksAtOnce, async (name) => {
    sizes.set(name, await vault.size(name))
  })
  return sizes
}

interface Cutting {
  readonly sizes: ReadonlyMap<string, number | null>
  readonly spool: Spool
  readonly goOn: () => void
}

/** Reads one state of all tables. No vault is asked meanwhile. */
const cutRows = (
  { database, clock }: RowDeps,
  room: Room,
  known: KnownChunks,
  { sizes, spool, goOn }: Cutting,
): Promise<{ readonly snapshotAtMs: number; readonly cut: CutTable[] }> =>
  database.snapshot(async (q) => {
    const snapshotAtMs = clock.now()
    const cut: CutTable[] = []
    for (const table of movingTables()) {
      const form = formOfTable(table.name)
      const cuts: (Chunk | Waiting)[] = []
      const cutter = new ChunkCutter(async (text, lines) => {
        const before = chunkBefore(room, form, known, sizes, text)
        if (before !== null) return void cuts.push(before)
        refuseUnreadable(text)
        const small = await compressedWhole(text)
        cuts.push({ lines, start: await spool.append(small), bytes: small.byteLength })
      })
      let rows = 0
      for await (const page of movedTexts(q, database.engine, table)) {
        await cutter.addAll(page)
        rows += page.length
        goOn()
      }
      await cutter.end()
      goOn()
      const columns = await columnsOf(q, database.engine, table.name)
      cut.push({ name: table.name, columns, rows, cuts })
    }
    return { snapshotAtMs, cut }
  })
