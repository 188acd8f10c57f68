import type { Database } from '../../../database/database.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { hitPathsMax } from '../../../kernel/limits/search.ts'
import { cursorAt, type Start } from '../../../kernel/order.ts'
import type { Page } from '../../../kernel/page.ts'
import { stringsOf } from '../artifacts/views.ts'
import { stagesAmong } from '../stages/stages.ts'
import { candidates } from './candidates.ts'
import { type FoundRow, matching, type Question } from './matching.ts'

/** A file that was found, as it is described now. */
export interface SearchItem {
  readonly id: string
  readonly name: string
  readonly size: string
  readonly createdAt: string
  readonly publishedAt: string
  readonly labels: string[]
  readonly stages: string[]
  /** Those that show it now, the first few in the order of their bytes; left out unless they were asked for. */
  readonly paths?: string[]
  /** Whether there are more of them. */
  readonly morePaths?: boolean
}

/**
 * Published files of a repository that match all filters, in the order of their ids or backwards. What is not changed
 * while somebody goes from page to page is met exactly once.
 */
export const search = async (
  database: Database,
  repository: string,
  question: Question,
  start: Start,
): Promise<Page<SearchItem>> => {
  const rows = await hitsIn(database, repository, question, start, pageMax + 1)
  const last = rows.length > pageMax ? rows[pageMax - 1] : undefined
  return {
    items: await shown(database, rows.slice(0, pageMax), question),
    next: last === undefined ? null : cursorAt(start.order, last.id),
  }
}

/** The first `limit` hits of one repository behind a position. */
export const hitsIn = async (
  database: Database,
  repository: string,
  question: Question,
  start: Start,
  limit: number,
): Promise<FoundRow[]> => {
  const hits: FoundRow[] = []
  for await (const ids of candidates(database, repository, question.filters, start)) {
    for (let at = 0; at < ids.length && hits.length < limit; at += pageMax) {
      const some = await matching(database.reader, repository, question, ids.slice(at, at + pageMax))
      hits.push(...(start.order === 'asc' ? some : some.reverse()))
    }
    if (hits.length >= limit) break
  }
  return hits.slice(0, limit)
}

/** Hits as they are shown, with their stages. */
export const shown = async (
  { reader }: Database,
  rows: readonly FoundRow[],
  { withPaths }: Pick<Question, 'withPaths'>,
): Promise<SearchItem[]> => {
  const stages = await stagesAmong(
    reader,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    size: String(row.size),
    createdAt: row.created_at,
    publishedAt: row.published_at,
    labels: stringsOf(row.labels),
    stages: stages.get(row.id) ?? [],
    ...(withPaths ? pathsOf(row) : {}),
  }))
}

const pathsOf = (row: FoundRow): { paths: string[]; morePaths: boolean } => {
  const paths = stringsOf(row.paths)
  return { paths: paths.slice(0, hitPathsMax), morePaths: paths.length > hitPathsMax }
}
