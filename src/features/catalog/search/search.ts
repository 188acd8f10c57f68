import type { Database } from '../../../database/database.ts'
import { foldCase } from '../../../kernel/fold-case.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { matchesExactly, type SearchFilters, searchText } from '../../../kernel/search-text.ts'
import { stagesAmong } from '../stages/stages.ts'
import { candidates } from './candidates.ts'
import { describedFiles } from './entries.queries.ts'
import { searchable } from './entries.ts'

/** A file that was found, as it is described now. */
interface SearchItem {
  readonly id: string
  readonly name: string
  readonly size: string
  readonly createdAt: string
  readonly publishedAt: string
  readonly labels: string[]
  readonly stages: string[]
}

export interface SearchPage {
  readonly items: SearchItem[]
  readonly next: string | null
}

/**
 * Published files of a repository that match all filters, in the order of their ids. What is not changed while somebody
 * goes from page to page is met exactly once.
 */
export const search = async (
  database: Database,
  repository: string,
  filters: SearchFilters,
  after: string,
): Promise<SearchPage> => {
  const items: SearchItem[] = []
  for await (const ids of candidates(database, repository, filters, after)) {
    for (let at = 0; at < ids.length && items.length <= pageMax; at += pageMax)
      items.push(...(await matching(database, repository, filters, ids.slice(at, at + pageMax))))
    if (items.length > pageMax) break
  }
  const page = items.slice(0, pageMax)
  const stages = await stagesAmong(
    database.reader,
    page.map(({ id }) => id),
  )
  return {
    items: page.map((item) => ({ ...item, stages: stages.get(item.id) ?? [] })),
    next: items.length > pageMax ? (page.at(-1)?.id ?? null) : null,
  }
}

/** Looks at what the index proposes: each file as one statement sees it, with all that is said of it. */
const matching = async (
  { reader }: Database,
  repository: string,
  filters: SearchFilters,
  ids: readonly string[],
): Promise<SearchItem[]> => {
  const needle = foldCase(filters.q ?? '')
  return (await describedFiles(reader, ids)).flatMap((row) => {
    const file = searchable(row)
    // Tokens are hashes, also those of repositories: this line is what keeps apart what is whose.
    if (row.repository !== repository || !matchesExactly(file, filters)) return []
    if (!searchText(file).includes(needle)) return []
    return {
      id: row.id,
      name: row.name,
      size: String(row.size),
      createdAt: row.created_at,
      publishedAt: row.published_at,
      labels: [...file.labels],
      stages: [],
    }
  })
}
