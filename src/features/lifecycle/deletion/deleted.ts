import { graceEndMs } from '../../../content/reclaim/grace.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { isStoredTime, isUuid } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import type { Order } from '../../../kernel/order.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { type DeletedPosition, restorableRows } from './deleted.queries.ts'
import { graceHoursOf } from './deletion.queries.ts'
import type { DeletionDeps } from './deletion.ts'

/** A deleted file, as whoever may bring it back sees it. */
export interface DeletedFile {
  readonly id: string
  readonly name: string
  readonly size: string
  readonly sha256: string
  readonly publishedAt: string
  readonly deletedAt: string
  /** Until when it can surely be brought back. */
  readonly restorableUntil: string
}

interface Asked {
  readonly order: Order
  readonly after: string | undefined
  readonly limit: number
}

/** Deleted files of a repository whose bytes are still there, by the time of their deletion. */
export const deletedFiles = async (
  { database, cleanupGraceMs }: Pick<DeletionDeps, 'database' | 'cleanupGraceMs'>,
  repository: string,
  { order, after, limit }: Asked,
): Promise<Page<DeletedFile>> => {
  const listing = ['deleted', repository, order]
  const from = after === undefined ? null : positionIn(listing, after)
  const rows = await restorableRows(database.reader, repository, { order, from }, limit + 1)
  const graceHours = await graceHoursOf(database.reader, repository)
  const show = (row: (typeof rows)[number]): DeletedFile => ({
    id: row.id,
    name: row.name,
    size: String(row.size),
    sha256: row.sha256,
    publishedAt: row.published_at,
    deletedAt: row.deleted_at,
    restorableUntil: timestamp(graceEndMs(row.deleted_at, graceHours, cleanupGraceMs)),
  })
  return pageOf(rows, limit, show, (row) => opaqueCursor(listing, [row.deleted_at, row.id]))
}

const positionIn = (listing: readonly unknown[], cursor: string): DeletedPosition => {
  const [deletedAt = '', id = ''] = positionOfCursor(listing, cursor, [isStoredTime, isUuid])
  return { deletedAt, id }
}
