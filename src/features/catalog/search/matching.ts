import type { Queries } from '../../../database/database.ts'
import { foldCase } from '../../../kernel/fold-case.ts'
import { searchPathsLookedAt } from '../../../kernel/limits/search.ts'
import { matchesExactly, type SearchFilters, searchText } from '../../../kernel/search-text.ts'
import { stringsOf } from '../artifacts/views.ts'
import { describedFiles, pathsOfFile } from './entries.queries.ts'
import { searchable } from './entries.ts'

export type FoundRow = Awaited<ReturnType<typeof describedFiles>>[number]

/**
 * Looks at what the index proposes: each file as one statement sees it, with all that is said of it. Those that match,
 * in the order of their ids.
 */
export const matching = async (
  q: Queries,
  repository: string,
  filters: SearchFilters,
  ids: readonly string[],
): Promise<FoundRow[]> => {
  const needle = foldCase(filters.q ?? '')
  const found: FoundRow[] = []
  for (const row of await describedFiles(q, ids)) {
    const file = searchable(row)
    // Tokens are hashes, also those of repositories: this line is what keeps apart what is whose.
    if (row.repository !== repository || !matchesExactly(file, filters)) continue
    if (!searchText(file).includes(needle)) continue
    if (filters.path === undefined || (await isShownAt(q, file, foldCase(filters.path)))) found.push(row)
  }
  return found
}

/** Whether a path that shows the file has this part: any path, or of very many one of the first. */
const isShownAt = async (
  q: Queries,
  { id, paths }: { readonly id: string; readonly paths: string | null },
  part: string,
): Promise<boolean> => {
  if (paths !== null) return paths.includes(part)
  return stringsOf(await pathsOfFile(q, id, searchPathsLookedAt)).some((path) => foldCase(path).includes(part))
}
