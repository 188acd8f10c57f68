import type { Queries } from '../database.ts'
import type { Engine } from '../migration.ts'
import { columnsInOrder, pendingBytes, type Row, type RowValue, rowsBehind, textsBehind } from './rows.queries.ts'
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

/**
 * Every row of a table that goes along, as {@link rowText} writes it, in pages. `q` shows one state for as long as it
 * is read. The engine makes the texts, except where bytes are among them or rows change.
 */
export async function* movedTexts(q: Queries, engine: Engine, table: MovingTable): AsyncGenerator<readonly string[]> {
  const columns = await columnsInOrder(q, engine, table.name)
  if (changes[table.name] !== undefined || columns.some(({ hasBytes }) => hasBytes === 1)) {
    for await (const rows of movedRows(q, table)) yield rows.map(rowText)
    return
  }
  const names = columns.map(({ name }) => name).sort()
  for (let last: Row | null = null; ; ) {
    const texts: string[] = await textsBehind(q, engine, columns, table, last)
    yield texts
    const end = texts.at(-1)
    if (end === undefined || texts.length < table.page) return
    last = rowOf(end, names)
  }
}

/** The same as rows. */
export async function* movedRows(q: Queries, table: MovingTable): AsyncGenerator<readonly Row[]> {
  const change = changes[table.name]
  const pending = table.name === 'counters' ? await pendingBytes(q) : 0
  for (let last: Row | null = null; ; ) {
    const rows: Row[] = await rowsBehind(q, table, last)
    yield change === undefined ? rows : rows.map((row) => change(row, pending))
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
  let count = 0
  for (const [column, value] of Object.entries(parsed)) {
    row[column] = rowValue(column, value)
    count += 1
  }
  // Without sorting them, since millions are read.
  if (count !== columns.length || !columns.every((column) => Object.hasOwn(row, column)))
    throw new RangeError('a row has other columns than its table')
  return row
}

/**
 * Throws a RangeError where the text of a row, of which `texts` has many, tells a number that {@link rowOf} would
 * refuse. A quote that is part of a value has a backslash before it.
 */
export const refuseUnreadable = (texts: Uint8Array): void => {
  const characters = Buffer.from(texts.buffer, texts.byteOffset, texts.byteLength).toString('latin1')
  for (const [, digits] of characters.matchAll(/[a-z_0-9]":(-?\d{16,})[,}]/g))
    if (!Number.isSafeInteger(Number(digits)))
      throw new RangeError(`a row has the number ${digits}, which is too large to be read`)
}

const rowValue = (column: string, value: unknown): RowValue => {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  if (typeof value === 'object' && 'base64' in value && typeof value.base64 === 'string')
    return Buffer.from(value.base64, 'base64')
  throw new RangeError(`${column} has a value that no row can have`)
}
