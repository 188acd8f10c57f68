import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { SearchEntriesTable } from '../../../database/tables/search-entries.ts'
import { searchMergePages, searchMergeTokens, searchTokensCheckedAtOnce } from '../../../kernel/limits/engines.ts'
import { idsBeyond, type Order } from '../../../kernel/order.ts'
import { manyPathsToken } from '../../../kernel/search-text.ts'
import type { Wanted } from './wanted.ts'

/**
 * The index of search on SQLite: a full-text table that holds no text, whose words are our tokens and whose row ids are
 * positions of ids. It answers in the order of row ids, as it goes, so that a page of a common needle costs no more
 * than one of a rare one.
 */
const word = (token: number): string => (token >>> 0).toString(36)
const words = (tokens: Iterable<number>, between: string): string => Array.from(tokens, word).join(between)

export const putSqliteEntry = prepareQuery((q, p: Parameters<SearchEntriesTable>) =>
  q
    .insertInto('search_entries')
    .values({
      artifact_id: p('artifact_id'),
      repository: p('repository'),
      position: p('position'),
      text: p('text'),
      paths: p('paths'),
    })
    .onConflict((conflict) =>
      conflict
        .column('artifact_id')
        .doUpdateSet((eb) => ({ text: eb.ref('excluded.text'), paths: eb.ref('excluded.paths') })),
    ),
)

const atPosition = prepareQuery((q, p: Parameters<{ position: number; id: string }>) =>
  q
    .selectFrom('search_entries')
    .select('artifact_id')
    .where('position', '=', p('position'))
    .where('artifact_id', '<>', p('id')),
)

/** Other files at the same position. */
export const sharersOf = async (q: Queries, position: number, id: string): Promise<string[]> =>
  (await atPosition(q, { position, id })).map(({ artifact_id }) => artifact_id)

const replaceTokens = prepareQuery((q, p: Parameters<{ position: number; tokens: string }>) => ({
  compile: () =>
    sql<never>`insert or replace into search_index (rowid, tokens) values (${p('position')}, ${p('tokens')})`.compile(
      q,
    ),
}))

const mergePages = prepareQuery((q, p: Parameters<{ pages: number }>) => ({
  compile: () => sql<never>`insert into search_index (search_index, rank) values ('merge', ${p('pages')})`.compile(q),
}))

/**
 * Every commit adds a segment to the index, and segments must be merged, or searches would have to look into more and
 * more of them. Left to itself the full-text table merges after every 64 pages it got, some 600 pages at once when
 * there are many files. Here writers merge a little, now and then: about every eighth of them a few milliseconds' work,
 * with as many pages for each token as all merges of a large index want of it, twice over. By chance, so that nothing
 * needs to be counted and nobody can choose writes that never merge.
 */
export const writeTokens = async (tx: Transaction, position: number, tokens: Set<number>): Promise<void> => {
  await replaceTokens(tx, { position, tokens: words(tokens, ' ') })
  const share = tokens.size / searchMergeTokens
  if (Math.random() < share) await mergePages(tx, { pages: Math.ceil(searchMergePages * Math.max(1, share)) })
}

const deleteTokens = prepareQuery((q, p: Parameters<{ position: number }>) => ({
  compile: () => sql<never>`delete from search_index where rowid = ${p('position')}`.compile(q),
}))

export const removeTokens = async (tx: Transaction, position: number): Promise<void> => {
  await deleteTokens(tx, { position })
}

interface Found {
  /** Null where the index knows a position that nobody has. */
  readonly artifact_id: string | null
  readonly position: number
  readonly hit: 0 | 1
}

interface Step {
  readonly match: string
  readonly from: number
  readonly after: string
  readonly needle: string
  readonly path: string
  readonly limit: number
}

/** Positions in one direction from one of them on, and files in that direction after an id. */
const stepIn = (order: Order) => {
  const [from, beyond, by] = order === 'asc' ? ['>=', '>', 'asc'] : ['<=', '<', 'desc']
  return prepareQuery((q, p: Parameters<Step>) => ({
    compile: () =>
      sql<Found>`
      select e.artifact_id, f.position, coalesce(e.artifact_id ${sql.raw(beyond)} ${p('after')}
        and instr(e.text, ${p('needle')}) > 0 and (e.paths is null or instr(e.paths, ${p('path')}) > 0), 0) as hit
      from (
        select rowid as position from search_index
        where search_index match ${p('match')} and rowid ${sql.raw(from)} ${p('from')}
        order by rowid ${sql.raw(by)} limit ${p('limit')}
      ) f
      left join search_entries e on e.position = f.position
      order by f.position ${sql.raw(by)}, e.artifact_id ${sql.raw(by)}`.compile(q),
  }))
}

const steps = { asc: stepIn('asc'), desc: stepIn('desc') }

/**
 * Files after an id that have all the tokens, the next `limit` positions from a position on; `hit` if the needle is in
 * the text, and the part of a path in the paths as far as the index knows them.
 */
export const sqliteStep = (
  q: Queries,
  { tokens, pathTokens, needle, path, order }: Wanted,
  { from, after, limit }: Pick<Step, 'from' | 'after' | 'limit'>,
): Promise<Found[]> => {
  const all = words(tokens, ' AND ')
  const match = pathTokens.size === 0 ? all : `${all} AND ((${words(pathTokens, ' AND ')}) OR ${word(manyPathsToken)})`
  return steps[order](q, { match, from, after: idsBeyond({ order, after }).id, needle, path, limit })
}

const tokenOf = (said: string): number => Number.parseInt(said, 36) | 0

/**
 * Which of the tokens that should stand at some neighbouring positions do not. Each token is looked for once, in what
 * the index has of it from the first of these positions to the last: one by one, each position would go through what
 * all its neighbours have as well.
 */
export const tokensMissing = async (
  q: Queries,
  wanted: ReadonlyMap<number, ReadonlySet<number>>,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> => {
  const missing = new Map(Array.from(wanted, ([position, tokens]) => [position, new Set(tokens)]))
  const tokens = new Set<number>()
  for (const some of wanted.values()) for (const token of some) tokens.add(token)
  const all = Array.from(tokens, word)
  const positions = [...wanted.keys()]
  const [first, last] = [Math.min(...positions), Math.max(...positions)]
  for (let at = 0; at < all.length; at += searchTokensCheckedAtOnce) {
    const some = JSON.stringify(all.slice(at, at + searchTokensCheckedAtOnce))
    const { rows } = await sql<{ said: string; position: number }>`
      select w.value as said, i.rowid as position from json_each(${some}) as w cross join search_index as i
      where i.search_index match w.value and i.rowid between ${first} and ${last}`.execute(q)
    for (const { said, position } of rows) missing.get(position)?.delete(tokenOf(said))
  }
  return missing
}

/** Positions that the index has something of and that are no file's. None on an engine that has no such positions. */
export const positionsOfNobody = async (q: Queries, limit: number): Promise<number[]> => {
  if (engineOf(q) !== 'sqlite') return []
  const { rows } = await sql<{ id: number }>`
    select d.id from search_index_docsize as d
    where not exists (select 1 from search_entries as e where e.position = d.id) limit ${limit}`.execute(q)
  return rows.map(({ id }) => id)
}
