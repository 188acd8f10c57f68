import type { Queries } from '../database.ts'
import { pendingBytes, type Row, type RowValue, rowsBehind } from './rows.queries.ts'
import type { MovingTable, TableName } from './tables.ts'

/** What the rows of some tables become when uploads that are under way stay behind. */
const changes: Partial<Record<TableName, (row: Row, pending: number) => Row>> = {
  uploads: (row) => ({ ...row, turn_holder: null, turn_until: null }),
  repositories: (row) => ({ ...row, pending_bytes: 0 }),
  counters: (row, pending) => {
    if (row['name'] === 'open_jobs') return { ...row, value: 0 }
    return row['name'] === 'reserved_bytes' ? { ...row, value: Number(row['value']) - pending } : row
  },
}

/** Every row of a table that goes along, as it goes. `q` shows one state for as long as it is read. */
export async function* movedRows(q: Queries, table: MovingTable): AsyncGenerator<Row> {
  const change = changes[table.name]
  const pending = table.name === 'counters' ? await pendingBytes(q) : 0
  for (let last: Row | null = null; ; ) {
    const rows: Row[] = await rowsBehind(q, table, last)
    for (const row of rows) yield change === undefined ? row : change(row, pending)
    last = rows.at(-1) ?? null
    if (last === null || rows.length < table.page) return
  }
}

/** A row as a line of text. Bytes are `{"base64": "…"}`; most rows have none, and are written as they are. */
export const rowText = (row: Row): string => {
  for (const column in row) if (row[column] instanceof Uint8Array) return textOfBytes(row)
  return JSON.stringify(row)
}

const textOfBytes = (row: Row): string => JSON.stringify(Object.fromEntries(Object.entries(row).map(inText)))

const inText = ([column, value]: [string, RowValue]): [string, unknown] =>
  value instanceof Uint8Array ? [column, { base64: Buffer.from(value).toString('base64') }] : [column, value]

/**
 * What {@link rowText} wrote. Throws a RangeError unless it has exactly these columns with values that a row can have.
 */
export const rowOf = (text: string, columns: readonly string[]): Row => {
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null) throw new RangeError('a line is no row')
  const row: Record<string, RowValue> = {}
  for (const [column, value] of Object.entries(parsed)) row[column] = rowValue(column, value)
  if (Object.keys(row).sort().join() !== columns.join()) throw new RangeError('a row has other columns than its table')
  return row
}

const rowValue = (column: string, value: unknown): RowValue => {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  if (typeof value === 'object' && 'base64' in value && typeof value.base64 === 'string')
    return Buffer.from(value.base64, 'base64')
  throw new RangeError(`${column} has a value that no row can have`)
}
