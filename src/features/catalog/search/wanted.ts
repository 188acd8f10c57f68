import { foldCase } from '../../../kernel/fold-case.ts'
import type { Order } from '../../../kernel/order.ts'
import { type SearchFilters, tokensOfFilters, tokensOfPathPart } from '../../../kernel/search-text.ts'

/** What an index is asked for. */
export interface Wanted {
  readonly repository: string
  readonly order: Order
  /** Folded. */
  readonly needle: string
  /** Part of a path, folded; '' where any will do, or none. */
  readonly path: string
  /** Of everything that is looked for, but the path. */
  readonly tokens: ReadonlySet<number>
  /** Without those of the needle. */
  readonly exactTokens: ReadonlySet<number>
  /** Of the path; a file that has too many of them for the index has one token instead. */
  readonly pathTokens: ReadonlySet<number>
}

export const wantedOf = (repository: string, filters: SearchFilters, order: Order): Wanted => ({
  repository,
  order,
  needle: foldCase(filters.q ?? ''),
  path: foldCase(filters.path ?? ''),
  tokens: tokensOfFilters(repository, filters),
  exactTokens: tokensOfFilters(repository, { ...filters, q: undefined }),
  pathTokens: tokensOfPathPart(filters.path ?? ''),
})
