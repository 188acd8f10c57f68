import type { Queries } from '../../../database/database.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { findRemovedRow } from './removal.queries.ts'

/** Why a path shows nothing: it never did, or since when it does not, and what brings its last file back. */
export const nothingAt = async (q: Queries, repository: string, path: string): Promise<Failure> => {
  const removed = await findRemovedRow(q, repository, path)
  if (removed === undefined) return notFound('path')
  const { revision, oldest, removed_at } = removed
  const back =
    oldest < revision
      ? `POST …/asset/restore with sourceRevision ${revision - 1} and expectedRevision ${revision} brings back what it showed.`
      : 'What it showed before was forgotten.'
  return new Failure(
    'not_found',
    `${JSON.stringify(path)} was removed at ${removed_at}, by revision ${revision}. ${back}`,
  )
}
