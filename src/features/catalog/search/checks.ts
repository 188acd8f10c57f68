import { lockLive } from '../../../content/claims/claims.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { idPosition } from '../../../kernel/id-position.ts'
import { checkPage, findingsMax } from '../../../kernel/limits/upkeep.ts'
import { searchText } from '../../../kernel/search-text.ts'
import { heldArtifact } from '../artifacts/artifacts.ts'
import { describedAfter } from './entries.queries.ts'
import { exactTokensOfFile, refreshEntry, searchable, tokensOfFile } from './entries.ts'
import { hasTokens } from './postgres.queries.ts'
import { holdsTokens, positionsOfNobody, removeTokens } from './sqlite.queries.ts'

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
  const wrong: Row[] = []
  for (const row of rows) if (!(isKnown(row) && (await isFound(q, row)))) wrong.push(row)
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

/** Whether the index leads to the file by all that it can be found by. */
const isFound = (q: Queries, row: Row): Promise<boolean> => {
  const file = searchable(row)
  const tokens = tokensOfFile(file, searchText(file))
  return engineOf(q) === 'postgres'
    ? hasTokens(q, row.id, exactTokensOfFile(file), tokens)
    : holdsTokens(q, idPosition(row.id), tokens)
}
