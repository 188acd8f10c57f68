import { type RawBuilder, sql } from 'kysely'
import { importValuesMax } from '../../kernel/limits/engines.ts'
import type { Queries, Transaction } from '../database.ts'
import type { Engine } from '../migration.ts'
import { type MovingTable, movingTables, type TableName } from './tables.ts'

/** A row of any table. */
export type Row = Readonly<Record<string, RowValue>>
export type RowValue = string | number | null | Uint8Array

/**
 * Whatever a pending upload alone holds stays with it. What waits for reclaim goes along, so that its end is told
 * there. Most are held by none that is pending, which are few, and nothing else has to be looked up for those.
 */
const blobGoesAlong = (table: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(${table}.sha256 not in (select coalesce(sha256, '') from claims where state = 'pending')
    or exists (select 1 from claims where claims.sha256 = ${table}.sha256 and claims.state <> 'pending')
    or exists (select 1 from reclaim_candidates where reclaim_candidates.sha256 = ${table}.sha256))`

/** Which rows go along, where not all do. */
const conditions = (): Partial<Record<TableName, RawBuilder<unknown>>> => ({
  uploads: sql`status <> 'pending'`,
  jobs: sql`ended_at is not null`,
  claims: sql`state <> 'pending'`,
  blobs: blobGoesAlong(sql.table('moved')),
  inline_bytes: blobGoesAlong(sql.table('moved')),
})

/** The rows of a table that go along, a page in the order of its key behind one of them. */
export const rowsBehind = async (q: Queries, table: MovingTable, last: Row | null): Promise<Row[]> => {
  const { rows } = await sql<Row>`select * ${pageBehind(table, last)}`.execute(q)
  return rows
}

/** The same as texts, which the engine makes: so that a row costs little more than reading it does. */
export const textsBehind = async (
  q: Queries,
  engine: Engine,
  columns: readonly Column[],
  table: MovingTable,
  last: Row | null,
): Promise<string[]> => {
  const text =
    engine === 'sqlite'
      ? sql`json_object(${sql.join(columns.flatMap(({ name }) => [sql.lit(name), sql.ref(name)]))})`
      : sql`row_to_json(moved)::text`
  const { rows } = await sql<{ text: string }>`select ${text} as text ${pageBehind(table, last)}`.execute(q)
  return rows.map((row) => row.text)
}

const pageBehind = (table: MovingTable, last: Row | null): RawBuilder<unknown> => {
  const key = sql.join(table.key.map((column) => sql.ref(column)))
  const behind = last === null ? sql`true` : sql`(${key}) > (${sql.join(table.key.map((column) => last[column]))})`
  return sql`from ${sql.table(table.name)} as moved
    where ${conditions()[table.name] ?? sql`true`} and ${behind} order by ${key} limit ${table.page}`
}

/** What uploads that are under way reserve together. */
export const pendingBytes = async (q: Queries): Promise<number> => {
  const { bytes } = await q
    .selectFrom('claims')
    .select((eb) => eb.fn.sum<number | string | null>('size').as('bytes'))
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}

export interface Column {
  readonly name: string
  readonly hasBytes: 0 | 1
}

/** The columns of a table, in the order in which its rows have them. */
export const columnsInOrder = async (q: Queries, engine: Engine, table: TableName): Promise<Column[]> => {
  const { rows } = await (engine === 'sqlite'
    ? sql<Column>`select name, lower(type) = 'blob' as "hasBytes" from pragma_table_info(${table}) order by cid`
    : sql<Column>`select column_name as name, data_type = 'bytea' as "hasBytes" from information_schema.columns
        where table_schema = current_schema() and table_name = ${table} order by ordinal_position`
  ).execute(q)
  return rows
}

/** What they are called, sorted. */
export const columnsOf = async (q: Queries, engine: Engine, table: TableName): Promise<string[]> =>
  (await columnsInOrder(q, engine, table)).map(({ name }) => name).sort()

/** How many rows a table has. */
export const countRows = async (q: Queries, table: TableName): Promise<number> => {
  const { rows } = await sql<{ n: number | string }>`select count(*) as n from ${sql.table(table)}`.execute(q)
  return Number(rows[0]?.n ?? 0)
}

/** Adds rows with these columns, as many to a statement as it takes. */
export const insertRows = (
  tx: Transaction,
  table: TableName,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> => insertEach(tx, table, columns, rows, sql``)

/** The same of those that are not there yet. */
export const insertMissingRows = (
  tx: Transaction,
  table: TableName,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> => insertEach(tx, table, columns, rows, sql`on conflict do nothing`)

const insertEach = async (
  tx: Transaction,
  table: TableName,
  columns: readonly string[],
  rows: readonly Row[],
  otherwise: RawBuilder<unknown>,
): Promise<void> => {
  const names = sql.join(columns.map((column) => sql.ref(column)))
  const atOnce = Math.max(1, Math.floor(importValuesMax / columns.length))
  for (let at = 0; at < rows.length; at += atOnce) {
    const values = rows.slice(at, at + atOnce).map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
    await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)} ${otherwise}`.execute(tx)
  }
}

/** What a first start leaves in tables that move, so that a database with nothing else in it counts as empty. */
const madeByStarting = (): Partial<Record<TableName, RawBuilder<unknown>>> => ({
  repositories: sql`id = 'releases' and journal_head = 0 and deleted_at is null
    and quota_bytes is null and grace_hours is null`,
  counters: sql`value = 0`,
  link_keys: sql`true`,
  usage_samples: sql`true`,
  service_samples: sql`true`,
})

/** The first of these tables that has rows which no mere start of the service made, or null. */
export const firstFilledTable = async (q: Queries, names: readonly TableName[]): Promise<TableName | null> => {
  for (const name of names) {
    const { rows } = await sql`select 1 from ${sql.table(name)}
      where not (${madeByStarting()[name] ?? sql`false`}) limit 1`.execute(q)
    if (rows.length > 0) return name
  }
  return null
}

/** Takes out what a first start made of these tables, which stand behind what their rows refer to. */
export const emptyTables = async (tx: Transaction, names: readonly TableName[]): Promise<void> => {
  for (const name of [...names].reverse()) await sql`delete from ${sql.table(name)}`.execute(tx)
}

/** Makes anew what is derived from other rows and did not go along; then the planner learns what there is. */
export const rebuildDerived = async (tx: Transaction, engine: Engine): Promise<void> => {
  // A server that has never counted its rows may plan as if there were none, until it gets round to it.
  if (engine === 'postgres') for (const { name } of movingTables()) await sql`analyze ${sql.table(name)}`.execute(tx)
}
