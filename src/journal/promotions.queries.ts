import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'
import { promotionActions } from '../kernel/journal-actions.ts'

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
    .where('sequence', '>', after)
    .where('action', 'in', told)
    .orderBy('sequence')
    .limit(limit)
  return of.artifactId === null ? lines : lines.where('artifact_id', '=', of.artifactId)
}

/** The last time that a file was promoted to a repository. */
export const lastPromotionRow = (
  q: Queries,
  of: { readonly repository: string; readonly artifactId: string },
  target: string,
) =>
  q
    .selectFrom('journal')
    .select(['mode', 'peer_artifact_id'])
    .where('repository', '=', of.repository)
    .where('artifact_id', '=', of.artifactId)
    .where('action', 'in', told)
    .where('action', '=', 'artifact.promoted')
    .where('peer_repository', '=', target)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
