import { graceEndMs } from '../../../content/reclaim/grace.ts'
import type { Database, Queries } from '../../../database/database.ts'
import type { LfsObjectsTable } from '../../../database/tables/lfs.ts'
import { cleanupSetting } from '../../../features/lifecycle/space/storage.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { isStoredTime, isUuid } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { cursorAt, type Order, type Start } from '../../../kernel/order.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { countObjectRows, deletedRows, objectRows } from './listing.queries.ts'

/** An object of Git LFS, as whoever looks after the repository sees it. */
export interface ListedObject {
  readonly oid: string
  readonly size: string
  readonly pushedAt: string
  readonly usedAt: string
  readonly actor: string
}

export type DeletedObject = ListedObject & { readonly deletedAt: string; readonly restorableUntil: string }

export const toListed = ({ sha256, size, pushed_at, used_at, actor }: LfsObjectsTable): ListedObject => ({
  oid: sha256,
  size: String(size),
  pushedAt: pushed_at,
  usedAt: used_at,
  actor,
})

/** A page of the objects of a repository. */
export const objectsOf = async (
  q: Queries,
  repository: string,
  start: Start,
  limit: number,
): Promise<Page<ListedObject>> =>
  pageOf(await objectRows(q, repository, start, limit + 1), limit, toListed, ({ id }) => cursorAt(start.order, id))

/** How many there are, up to so many. */
export const countObjects = countObjectRows

interface GraceDeps {
  readonly database: Database
  readonly cleanupGraceMs: number
}

interface Asked {
  readonly order: Order
  readonly after: string | undefined
  readonly limit: number
}

/** A page of the deleted objects of a repository that can still be brought back. */
export const deletedObjectsOf = async (
  deps: GraceDeps,
  repository: string,
  { order, after, limit }: Asked,
): Promise<Page<DeletedObject>> => {
  const q = deps.database.reader
  const listing = ['deleted-lfs-objects', repository, order]
  const from = after === undefined ? null : positionIn(listing, after)
  const rows = await deletedRows(q, repository, { order, from }, limit + 1)
  const { graceHours } = await cleanupSetting(deps, repository)
  const show = (row: (typeof rows)[number]): DeletedObject => ({
    ...toListed(row),
    deletedAt: row.deleted_at,
    restorableUntil: timestamp(graceEndMs(row.deleted_at, graceHours, deps.cleanupGraceMs)),
  })
  return pageOf(rows, limit, show, (row) => opaqueCursor(listing, [row.deleted_at, row.id]))
}

const positionIn = (listing: readonly unknown[], cursor: string) => {
  const [deletedAt = '', id = ''] = positionOfCursor(listing, cursor, [isStoredTime, isUuid])
  return { deletedAt, id }
}
