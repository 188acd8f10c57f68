import { countUpTo } from '../../../database/count-up-to.queries.ts'
import type { Queries } from '../../../database/database.ts'
import type { LfsObjectsTable } from '../../../database/tables/lfs.ts'
import { idsBeyond, type Order, type Start } from '../../../kernel/order.ts'

/** Objects of a repository in the order of their ids, which is that of their pushes, or backwards. */
export const objectRows = (q: Queries, repository: string, start: Start, limit: number): Promise<LfsObjectsTable[]> => {
  const { is, id } = idsBeyond(start)
  return q
    .selectFrom('lfs_objects')
    .selectAll()
    .where('repository', '=', repository)
    .where('deleted_at', 'is', null)
    .where('id', is, id)
    .orderBy('id', start.order)
    .limit(limit)
    .execute()
}

export const countObjectRows = (q: Queries, repositories: readonly string[], most: number) =>
  countUpTo(
    q,
    repositories,
    (eb) =>
      eb
        .selectFrom('lfs_objects')
        .whereRef('lfs_objects.repository', '=', 'repositories.id')
        .where('lfs_objects.deleted_at', 'is', null),
    most,
  )

export interface DeletedPosition {
  readonly deletedAt: string
  readonly id: string
}

/** Deleted objects behind one of them, by the time of their deletion. */
export const deletedRows = (
  q: Queries,
  repository: string,
  { order, from }: { readonly order: Order; readonly from: DeletedPosition | null },
  limit: number,
) => {
  const rows = q
    .selectFrom('lfs_objects')
    .selectAll()
    .where('repository', '=', repository)
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at', order)
    .orderBy('id', order)
    .limit(limit)
    .$narrowType<{ deleted_at: string }>()
  if (from === null) return rows.execute()
  const beyond = order === 'asc' ? '>' : '<'
  return rows.where((eb) => eb(eb.refTuple('deleted_at', 'id'), beyond, eb.tuple(from.deletedAt, from.id))).execute()
}
