import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'
import { promotionActions } from '../../kernel/journal-actions.ts'
import { beyond } from '../since-base.queries.ts'

/** Written out, because the partial indexes serve only who asks for just what they hold. */
const told = promotionActions.map((action) => sql.lit(action))

/** Lines of the promotion journal after one, oldest first: of a repository, or of one of its files. */
export const listPromotionRows = (
  q: Queries,
  of: { readonly repository: string; readonly artifactId: string | null },
  after: number,
  limit: number,
) => {
  const lines = q
    .selectFrom('journal')
    .selectAll()
    .where('repository', '=', of.repository)
    .where('sequence', '>', beyond(sql.val(of.repository), sql.val(after)))
    .where('action', 'in', told)
    .orderBy('sequence')
    .limit(limit)
  return of.artifactId === null ? lines : lines.where('artifact_id', '=', of.artifactId)
}
