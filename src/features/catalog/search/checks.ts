import { lockLive } from '../../../content/claims/claims.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { idPosition } from '../../../kernel/id-position.ts'
import { searchTokensCheckedAtOnce } from '../../../kernel/limits/engines.ts'
import { checkPage, findingsMax } from '../../../kernel/limits/upkeep.ts'
import { searchText } from '../../../kernel/search-text.ts'
import { heldArtifact } from '../artifacts/artifacts.ts'
import { describedAfter } from './entries.queries.ts'
import { exactTokensOfFile, refreshEntry, searchable, tokensOfFile } from './entries.ts'
import { hasTokens } from './postgres.queries.ts'
import { positionsOfNobody, removeTokens, tokensMissing } from './sqlite.queries.ts'

type Row = Awaited<ReturnType<typeof describedAfter>>[number]

/**
 * Proves that search knows every published file by what is said of it now. (What is not published has no entry: the
 * schema sees to that.)
 */
export async function* checkSearch(database: Database): AsyncGenerator<Finding> {
  for (const position of await positionsOfNobody(database.reader, findingsMax))
    yield damage(`search knows something at ${position}, where no file is`, () =>
      database.transaction((tx) => removeTokens(tx, position)),
    )
  let found = 0
  for (let after = ''; found < findingsMax; ) {
    const { last, wrong } = await database.snapshot((q) => lookAt(q, after))
    for (const { id, repository } of wrong)
      yield damage(`repository ${repository}: search does not know the artifact ${id} as it is described`, () =>
        database.transaction(async (tx) => {
          if (!(await lockLive(tx, id))) return
          await heldArtifact(tx, repository, id)
          await refreshEntry(tx, id)
        }),
      )
    if (last === null) return
    found += wrong.length
    after = last
  }
}

const lookAt = async (q: Queries, after: string): Promise<{ last: string | null; wrong: Row[] }> => {
  const rows = await describedAfter(q, after, checkPage)
  const known = rows.filter(isKnown)
  const found = await (engineOf(q) === 'postgres' ? foundByEntry(q, known) : foundByPosition(q, known))
  const wrong = rows.filter((row) => !found.has(row))
  return { last: rows.length < checkPage ? null : (rows.at(-1)?.id ?? null), wrong }
}

/** What is said of it may be no JSON, which is found by those who look for that. */
const isKnown = (row: Row): boolean =>
  isReadable(row) &&
  row.text === searchText(searchable(row)) &&
  row.known_paths === searchable(row).paths &&
  row.known_in === row.repository &&
  row.position === idPosition(row.id)

const isReadable = (row: Row): boolean => {
  try {
    searchable(row)
    return true
  } catch {
    return false
  }
}

/** Those to which the index leads by all that they can be found by: what stands in the row of each. */
const foundByEntry = async (q: Queries, rows: readonly Row[]): Promise<ReadonlySet<Row>> => {
  const found = new Set<Row>()
  for (const row of rows) {
    const file = searchable(row)
    if (await hasTokens(q, row.id, exactTokensOfFile(file), tokensOfFile(file, searchText(file)))) found.add(row)
  }
  return found
}

/** The same on SQLite: what stands at their positions, looked at for as many files at once as have so many tokens. */
const foundByPosition = async (q: Queries, rows: readonly Row[]): Promise<ReadonlySet<Row>> => {
  const found = new Set<Row>()
  for (let at = 0; at < rows.length; ) {
    const some = new Map<Row, ReadonlySet<number>>()
    const wanted = new Map<number, ReadonlySet<number>>()
    for (let tokens = 0; at < rows.length && tokens < searchTokensCheckedAtOnce; at++) {
      const row = rows[at]
      if (row === undefined) break
      const file = searchable(row)
      const own = tokensOfFile(file, searchText(file))
      some.set(row, own)
      // Neighbours may share a position.
      wanted.set(idPosition(row.id), own.union(wanted.get(idPosition(row.id)) ?? new Set()))
      tokens += own.size
    }
    const missing = await tokensMissing(q, wanted)
    for (const [row, own] of some) if (missing.get(idPosition(row.id))?.isDisjointFrom(own)) found.add(row)
  }
  return found
}
