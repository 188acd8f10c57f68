import { setImmediate as nextRound } from 'node:timers/promises'
import type { Queries } from '../../../database/database.ts'
import { foldCase } from '../../../kernel/fold-case.ts'
import { searchCharactersPerRound, searchPathsLookedAt } from '../../../kernel/limits/search.ts'
import { matchesExactly, type SearchFilters } from '../../../kernel/search-text.ts'
import { recordOf, stringsOf } from '../artifacts/views.ts'
import { pathsOfFile } from './entries.queries.ts'
import { foundFiles } from './matching.queries.ts'

/** What to look for, and whether hits tell the paths that show them. */
export interface Question {
  readonly filters: SearchFilters
  readonly withPaths: boolean
}

export type FoundRow = Awaited<ReturnType<typeof foundFiles>>[number]

/**
 * Looks at what the index proposes: each file as one statement sees it, with all that is said of it. Those that match,
 * in the order of their ids. The process goes on with other work after each call, and in the middle of long lists of
 * paths: whoever describes files at length makes searches slow, and nothing else.
 */
export const matching = async (
  q: Queries,
  repository: string,
  { filters, withPaths }: Question,
  ids: readonly string[],
): Promise<FoundRow[]> => {
  const [needle, path] = [foldCase(filters.q ?? ''), foldCase(filters.path ?? '')]
  const looked = { repository, needle, path, withPaths, withMetadata: filters.metadata !== undefined }
  const found: FoundRow[] = []
  for (const row of await foundFiles(q, ids, looked)) {
    if (!matchesExactly(said(row), filters)) continue
    if (path === '' || row.many === 0 || (await isShownAt(q, row.id, path))) found.push(row)
  }
  await nextRound()
  return found
}

const said = ({ labels, metadata, collections, sha256 }: FoundRow) => ({
  sha256,
  labels: stringsOf(labels),
  metadata: recordOf(metadata),
  collections: stringsOf(collections ?? '[]'),
})

/** Whether one of the first paths that show the file has this part, of very many of them. */
const isShownAt = async (q: Queries, id: string, part: string): Promise<boolean> => {
  const paths = stringsOf(await pathsOfFile(q, id, searchPathsLookedAt))
  await nextRound()
  let characters = 0
  for (const path of paths) {
    if (foldCase(path).includes(part)) return true
    characters += path.length
    if (characters < searchCharactersPerRound) continue
    characters = 0
    await nextRound()
  }
  return false
}
