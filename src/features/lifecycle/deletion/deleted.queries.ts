import type { Queries } from '../../../database/database.ts'
import type { DeletedArtifactsTable } from '../../../database/tables/artifacts.ts'
import type { Order } from '../../../kernel/order.ts'

export interface DeletedPosition {
  readonly deletedAt: string
  readonly id: string
}

/** Deleted files that can still be brought back, behind one of them, by the time of their deletion. */
export const restorableRows = (
  q: Queries,
  repository: string,
  { order, from }: { readonly order: Order; readonly from: DeletedPosition | null },
  limit: number,
): Promise<DeletedArtifactsTable[]> => {
  const rows = q
    .selectFrom('deleted_artifacts')
    .selectAll()
    .where('repository', '=', repository)
    .where('released_at', 'is', null)
    .orderBy('deleted_at', order)
    .orderBy('id', order)
    .limit(limit)
  if (from === null) return rows.execute()
  const beyond = order === 'asc' ? '>' : '<'
  return rows.where((eb) => eb(eb.refTuple('deleted_at', 'id'), beyond, eb.tuple(from.deletedAt, from.id))).execute()
}
