import type { Database } from '../../../database/database.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { searchRepositoriesPerPage } from '../../../kernel/limits/search.ts'
import { isRepositoryId, isUuid } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import type { Order } from '../../../kernel/order.ts'
import type { Page } from '../../../kernel/page.ts'
import type { FoundRow, Question } from './matching.ts'
import { hitsIn, type SearchItem, shown } from './search.ts'

/** Where a search of all repositories stands: in one of them, behind an id; '' before its first file. */
interface Position {
  readonly repository: string
  readonly id: string
}

/** Repositories in which somebody may search, behind an id and in the order of their ids. */
export type Searched = (after: string, limit: number) => Promise<string[]>

/**
 * Published files that match all filters, in every repository that `searched` names, one repository after another. A
 * page goes through so many of them at most: it may be short, or empty, and still have a next. No other repository is
 * looked at, so that nothing of an answer, nor how long it takes, tells of one.
 */
export const searchEverywhere = async (
  database: Database,
  searched: Searched,
  question: Question,
  { order, cursor }: { readonly order: Order; readonly cursor: string | undefined },
): Promise<Page<SearchItem & { readonly repository: string }>> => {
  const from = cursor === undefined ? null : positionOf(order, question, cursor)
  const here = from === null ? [] : await hereStill(searched, from.repository)
  const others = await searched(from?.repository ?? '', searchRepositoriesPerPage + 1)
  const found: FoundRow[] = []
  let next: Position | null = null
  for (const [index, repository] of [...here, ...others].entries()) {
    const after = repository === from?.repository ? from.id : ''
    next = { repository, id: after }
    if (index === searchRepositoriesPerPage || found.length === pageMax) break
    const left = pageMax - found.length
    const hits = await hitsIn(database, repository, question, { order, after }, left + 1)
    found.push(...hits.slice(0, left))
    next = hits.length > left ? { repository, id: found.at(-1)?.id ?? after } : null
    if (next !== null) break
  }
  const items = await shown(database, found, question)
  return {
    items: items.map((item, index) => ({ repository: found[index]?.repository ?? '', ...item })),
    next: next === null ? null : cursorOf(order, question, next),
  }
}

/** The repository of a cursor, if it may still be searched. */
const hereStill = async (searched: Searched, repository: string): Promise<string[]> => {
  const [first] = await searched(justBefore(repository), 1)
  return first === repository ? [first] : []
}

/** No id lies between: what is behind this text begins with the id itself. */
const justBefore = (id: string): string => {
  const last = id.charCodeAt(id.length - 1)
  return `${id.slice(0, -1)}${String.fromCharCode(last - 1)}~`
}

const listing = (order: Order, { filters }: Question): readonly unknown[] => ['search', order, filters]

const cursorOf = (order: Order, question: Question, { repository, id }: Position): string =>
  opaqueCursor(listing(order, question), [repository, id])

/** '' before the first file. */
const isIdOrNone = (text: string): boolean => text === '' || isUuid(text)

const positionOf = (order: Order, question: Question, cursor: string): Position => {
  const [repository = '', id = ''] = positionOfCursor(listing(order, question), cursor, [isRepositoryId, isIdOrNone])
  return { repository, id }
}
