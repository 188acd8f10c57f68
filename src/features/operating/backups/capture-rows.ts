import type { Database } from '../../../database/database.ts'
import { columnsOf } from '../../../database/moving/rows.queries.ts'
import { movedRows, rowText } from '../../../database/moving/rows.ts'
import { movingTables } from '../../../database/moving/tables.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { ChunkWriter, type KnownChunks } from './chunks.ts'
import type { Room } from './data-files.ts'
import type { BackedUpTable } from './manifest.ts'

interface RowDeps {
  readonly database: Database
  readonly clock: Clock
  readonly reach: ReachFaultPoint
}

interface TakenRows {
  readonly snapshotAtMs: number
  readonly tables: BackedUpTable[]
  readonly newBytes: number
}

/** What the service itself reads again: which blobs there are, and what repositories took. */
const ofService: ReadonlySet<string> = new Set(['blobs', 'repositories'])

/**
 * Writes one state of all tables. `goOn` throws where it is to stop.
 */
export const captureRows = (
  { database, clock, reach }: RowDeps,
  room: Room,
  known: KnownChunks,
  goOn: () => void,
): Promise<TakenRows> =>
  database.snapshot(async (q) => {
    const snapshotAtMs = clock.now()
    const tables: BackedUpTable[] = []
    let newBytes = 0
    for (const table of movingTables()) {
      const writer = new ChunkWriter(room, 'rows', ofService.has(table.name) ? 'service' : 'operators', known)
      let rows = 0
      for await (const row of movedRows(q, table)) {
        await writer.add(rowText(row))
        if (++rows % 1_000 === 0) goOn()
      }
      await writer.end()
      goOn()
      const columns = await columnsOf(q, database.engine, table.name)
      tables.push({ name: table.name, columns, rows, chunks: writer.chunks })
      newBytes += writer.newBytes
      reach('backup.table')
    }
    return { snapshotAtMs, tables, newBytes }
  })
