import { lockLive } from '../../content/claims.ts'
import type { Database, Queries } from '../../database/database.ts'
import { engineOf } from '../../database/engine-of.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { idPosition } from '../../kernel/id-position.ts'
import { checkPage, findingsMax } from '../../kernel/limits.ts'
import { exactTokensOf, foldCase, searchText, tokensOfFilters } from '../../kernel/search-text.ts'
import { heldArtifact } from '../artifacts/artifacts.ts'
import { describedAfter } from './entries.queries.ts'
import { refreshEntry, searchable } from './entries.ts'
import { hasTokens } from './postgres.queries.ts'
import { sqliteStep } from './sqlite.queries.ts'

type Row = Awaited<ReturnType<typeof describedAfter>>[number]

/** Proves that search knows every published file by what is said of it now. (What is not published has no entry: the schema sees to that.) */
export async function* checkSearch(database: Database): AsyncGenerator<Finding> {
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

const isKnown = (row: Row): boolean =>
  row.text === searchText(searchable(row)) && row.known_in === row.repository && row.position === idPosition(row.id)

/** Whether the index leads to the file by its name. */
const isFound = async (q: Queries, row: Row): Promise<boolean> => {
  const { id, repository, name } = row
  const tokens = tokensOfFilters(repository, { q: name, label: undefined, collection: undefined, metadata: undefined })
  if (engineOf(q) === 'postgres') return hasTokens(q, id, exactTokensOf(searchable(row)), tokens)
  const step = { from: idPosition(id), after: '', needle: foldCase(name), limit: 1 }
  return (await sqliteStep(q, tokens, step)).some((found) => found.artifact_id === id && found.hit === 1)
}
