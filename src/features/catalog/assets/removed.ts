import type { Queries } from '../../../database/database.ts'
import { pathFault, prefixEnd } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { removedRows } from './removal.queries.ts'

export interface RemovedPath {
  readonly path: string
  /** The one that removed it. */
  readonly revision: number
  readonly removedAt: string
  /** What it showed before; null where that was forgotten. */
  readonly restorableRevision: number | null
}

/** A page of paths under a literal prefix that were removed and show nothing since, in the order of their bytes. */
export const removedPaths = async (
  q: Queries,
  repository: string,
  { prefix, after, limit }: { readonly prefix: string; readonly after: string | undefined; readonly limit: number },
): Promise<Page<RemovedPath>> => {
  const listing = ['removed', repository, prefix]
  const isOfList = (path: string): boolean => path.startsWith(prefix) && pathFault(path) === null
  const [last] = after === undefined ? [] : positionOfCursor(listing, after, [isOfList])
  const range = { from: last ?? prefix, inclusive: last === undefined, end: prefixEnd(prefix) }
  const rows = await removedRows(q, repository, range, limit + 1)
  const show = ({ path, revision, oldest, removed_at: removedAt }: (typeof rows)[number]): RemovedPath => ({
    ...{ path, revision, removedAt },
    restorableRevision: oldest < revision ? revision - 1 : null,
  })
  return pageOf(rows, limit, show, ({ path }) => opaqueCursor(listing, [path]))
}
