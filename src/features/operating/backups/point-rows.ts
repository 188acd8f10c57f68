import type { Row } from '../../../database/moving/rows.queries.ts'
import type { TableName } from '../../../database/moving/tables.ts'
import { linesOf, rowIn } from './chunks.ts'
import type { Room } from './data-files.ts'
import type { BackedUpTable, Manifest } from './manifest.ts'
import { Rounds } from './rounds.ts'

/** A table of a point; one without rows where the point is older than the table. */
export const tableOf = (manifest: Pick<Manifest, 'tables'>, name: TableName): BackedUpTable =>
  manifest.tables.find((table) => table.name === name) ?? { name, columns: [], rows: 0, chunks: [] }

/**
 * The rows of a table as a point has them, in the order of its key. Lines that `may` be passed over are not looked
 * into: it sees the text of a row.
 */
export async function* rowsOfPoint(
  room: Room,
  manifest: Pick<Manifest, 'tables'>,
  name: TableName,
  may: (line: string) => boolean = () => true,
): AsyncGenerator<Row> {
  const { chunks, columns } = tableOf(manifest, name)
  const rounds = new Rounds()
  for (const chunk of chunks)
    for (const line of await linesOf(room, chunk)) {
      await rounds.next()
      if (may(line)) yield rowIn(chunk, line, columns)
    }
}

/** Whether the text of a row has this value in some column: quick, and to be looked at again. */
export const tells = (value: string): ((line: string) => boolean) => {
  const written = JSON.stringify(value)
  return (line) => line.includes(written)
}
