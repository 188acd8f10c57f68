import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'
import { promotionActions } from '../../kernel/journal-actions.ts'
import type { Stretch } from '../../kernel/sequence.ts'
import { beyond } from '../since-base.queries.ts'

/** Written out, because the partial indexes serve only who asks for just what they hold. */
const told = promotionActions.map((action) => sql.lit(action))

/** Lines of the promotion journal in a stretch of it: of a repository, or of one of its files. */
export const listPromotionRows = (
  q: Queries,
  of: { readonly repository: string; readonly artifactId: string | null },
  { order, above, below }: Stretch,
  limit: number,
) => {
  const lines = q
    .selectFrom('journal')
    .selectAll()
    .where('repository', '=', of.repository)
    .where('sequence', '>', beyond(sql.val(of.repository), sql.val(above)))
    .where('sequence', '<', below)
    .where('action', 'in', told)
    .orderBy('sequence', order)
    .limit(limit)
  return of.artifactId === null ? lines : lines.where('artifact_id', '=', of.artifactId)
}
