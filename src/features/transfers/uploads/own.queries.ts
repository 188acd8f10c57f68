import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { idsBeyond, type Start } from '../../../kernel/order.ts'

/** Sessions of an owner that are open, in all repositories, by their ids; with what is stored of them. */
export const openSessionsOf = (q: Queries, owner: string, start: Start, limit: number) => {
  const { is, id } = idsBeyond(start)
  return q
    .selectFrom('uploads')
    .leftJoin('assemblies', 'assemblies.claim_id', 'uploads.id')
    .selectAll('uploads')
    .select('assemblies.stored_bytes')
    .where('uploads.owner', '=', owner)
    .where('uploads.status', '=', sql.lit('pending' as const))
    .where('uploads.kind', '=', 'session')
    .where('uploads.id', is, id)
    .orderBy('uploads.id', start.order)
    .limit(limit)
    .execute()
}
