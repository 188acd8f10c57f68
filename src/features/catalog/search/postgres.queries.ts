import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { SearchEntriesTable } from '../../../database/tables/search-entries.ts'
import { tokenIndexMemoryKiB } from '../../../kernel/limits/engines.ts'
import { idsBeyond } from '../../../kernel/order.ts'
import { manyPathsToken } from '../../../kernel/search-text.ts'
import type { Wanted } from './wanted.ts'

/**
 * The index of search on PostgreSQL: tokens as an array with an inverted index (GIN). It answers a whole set at once
 * and in no order, which is right for what is rare; what is common is found by walking through the entries in order.
 * Tokens of exact words stand in a short array as well: looking through the long one takes longer than all the rest of
 * a walk.
 */
const array = (tokens: Iterable<number>): string => `{${Array.from(tokens).join(',')}}`

const putEntry = prepareQuery((q, p: Parameters<SearchEntriesTable & { exact: string; tokens: string }>) => ({
  compile: () =>
    sql<never>`
      insert into search_entries (artifact_id, repository, position, text, paths, exact, tokens)
      values (${p('artifact_id')}, ${p('repository')}, ${p('position')}, ${p('text')}, ${p('paths')},
        ${p('exact')}::int4[], ${p('tokens')}::int4[])
      on conflict (artifact_id) do update
        set text = excluded.text, paths = excluded.paths, exact = excluded.exact, tokens = excluded.tokens`.compile(q),
}))

export interface PostgresEntry extends SearchEntriesTable {
  /** Of exact words. */
  readonly exact: ReadonlySet<number>
  readonly tokens: ReadonlySet<number>
}

export const putPostgresEntry = async (tx: Transaction, entry: PostgresEntry): Promise<void> => {
  await putEntry(tx, { ...entry, exact: array(entry.exact), tokens: array(entry.tokens) })
}

/** Adds entries of files that have none, in one statement. */
export const putPostgresEntries = async (tx: Transaction, entries: readonly PostgresEntry[]): Promise<void> => {
  if (entries.length === 0) return
  const rows = entries.map(
    ({ artifact_id, repository, position, text, paths, exact, tokens }) =>
      sql`(${artifact_id}, ${repository}, ${position}, ${text}, ${paths}, ${array(exact)}::int4[], ${array(tokens)}::int4[])`,
  )
  await sql`insert into search_entries (artifact_id, repository, position, text, paths, exact, tokens)
    values ${sql.join(rows)}`.execute(tx)
}

const tokenIndex = sql`search_entries_by_token`

/** Until {@link makeTokenIndex}, no search finds anything by it. */
export const dropTokenIndex = async (tx: Transaction): Promise<void> => {
  await sql`drop index if exists ${tokenIndex}`.execute(tx)
}

/**
 * As the migrations make it. Then the planner learns how many entries there are, which else it would take a minute to
 * notice.
 */
export const makeTokenIndex = async (tx: Transaction): Promise<void> => {
  await sql`set local maintenance_work_mem = ${sql.lit(`${tokenIndexMemoryKiB}kB`)}`.execute(tx)
  await sql`create index ${tokenIndex} on search_entries using gin (tokens) with (fastupdate = off)`.execute(tx)
  await sql`analyze search_entries`.execute(tx)
}

/** What comes after an id, and in which direction: words of the statement, never of a request. */
const inOrder = ({ order }: Wanted, after: string) => {
  const { is, id } = idsBeyond({ order, after })
  return { beyond: sql.raw(is), from: id, by: sql.raw(order), furthest: sql.raw(order === 'asc' ? 'max' : 'min') }
}

const hasTexts = ({ needle, path }: Wanted) =>
  sql`position(${needle} in text) > 0 and (paths is null or position(${path} in paths) > 0)`

const hasTokensOf = ({ tokens, pathTokens }: Wanted) =>
  pathTokens.size === 0
    ? sql`tokens @> ${array(tokens)}::int4[]`
    : sql`(tokens @> ${array(tokens.union(pathTokens))}::int4[]
        or tokens @> ${array(new Set(tokens).add(manyPathsToken))}::int4[])`

/**
 * Walks through the next `rows` entries after an id, along the index of the repository. What the pair says again keeps
 * the planner there: the ids alone have an index as well, full of other repositories. The id by itself is where the
 * index begins to read: beside an equation of the repository, the pair is only compared, from its first entry on. Hits
 * in order, at most `limit` of them; `last` is where to go on, null at the end.
 */
export const walk = async (
  q: Queries,
  wanted: Wanted,
  after: string,
  { rows, limit }: { readonly rows: number; readonly limit: number },
): Promise<{ ids: string[]; last: string | null }> => {
  const { repository, exactTokens } = wanted
  const { beyond, from, by, furthest } = inOrder(wanted, after)
  const { rows: found } = await sql<{ artifact_id: string | null; seen: number }>`
    with seen as materialized (
      select artifact_id, (${hasTexts(wanted)} and exact @> ${array(exactTokens)}::int4[]) as hit
      from search_entries where repository = ${repository} and artifact_id ${beyond} ${from}
        and (repository, artifact_id) ${beyond} (${repository}, ${from})
      order by repository ${by}, artifact_id ${by} limit ${rows}
    )
    (select artifact_id, 0 as seen from seen where hit order by artifact_id ${by} limit ${limit})
    union all select ${furthest}(artifact_id), count(*) from seen`.execute(q)
  const ids = found.flatMap(({ artifact_id, seen }) => (seen === 0 && artifact_id !== null ? [artifact_id] : []))
  const end = found.find(({ seen }) => seen > 0)
  if (ids.length === limit) return { ids, last: ids.at(-1) ?? null }
  return { ids, last: end?.seen === rows ? end.artifact_id : null }
}

/** Leaves the planner no way but the inverted index: what it guesses of arrays it has not looked at leads it astray. */
export const onlyByIndex = async (q: Queries): Promise<void> => {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
    set_config('enable_indexonlyscan', 'off', true), set_config('jit', 'off', true)`.execute(q)
}

/**
 * Some `limit` entries after an id that have all the tokens, in no order (the concatenation keeps the index of ids out
 * of it, which would be read for everything after the id); `hit` if the texts have what is looked for. */
export const someByIndex = async (q: Queries, wanted: Wanted, after: string, limit: number) => {
  const { beyond, from } = inOrder(wanted, after)
  const { rows } = await sql<{ artifact_id: string; hit: 0 | 1 }>`
    select artifact_id, (${hasTexts(wanted)}) as hit from search_entries
    where ${hasTokensOf(wanted)} and artifact_id || '' ${beyond} ${from} limit ${limit}`.execute(q)
  return rows
}

/** The first `limit` hits after an id, for which everything that has the tokens is looked at. */
export const firstByIndex = async (q: Queries, wanted: Wanted, after: string, limit: number): Promise<string[]> => {
  const { beyond, from, by } = inOrder(wanted, after)
  const { rows } = await sql<{ artifact_id: string }>`
    select artifact_id from search_entries
    where ${hasTokensOf(wanted)} and artifact_id || '' ${beyond} ${from} and ${hasTexts(wanted)}
    order by artifact_id ${by} limit ${limit}`.execute(q)
  return rows.map(({ artifact_id }) => artifact_id)
}

/** Whether the entry of a file has exactly these exact tokens, and those of its name. */
export const hasTokens = async (
  q: Queries,
  id: string,
  exact: ReadonlySet<number>,
  name: ReadonlySet<number>,
): Promise<boolean> =>
  (
    await sql`select 1 from search_entries where artifact_id = ${id} and tokens @> ${array(name)}::int4[]
      and tokens @> exact and exact @> ${array(exact)}::int4[] and exact <@ ${array(exact)}::int4[]`.execute(q)
  ).rows.length > 0
