import type { Queries } from '../../database/database.ts'
import type { ArtifactsTable } from '../../database/tables/artifacts.ts'
import { notFound } from '../../kernel/failure.ts'
import { findArtifactRow, listArtifactRows } from './artifacts.queries.ts'

/** Published files of a repository, in the order of their ids, which is that of their creation. */
export const artifactsAfter = (
  q: Queries,
  repository: string,
  after: string,
  limit: number,
): Promise<ArtifactsTable[]> => listArtifactRows(q, repository, after, limit)

/** A published file. Pending, cancelled and deleted ones are missing ones: 404. */
export const publishedArtifact = async (q: Queries, repository: string, id: string): Promise<ArtifactsTable> => {
  const row = await findArtifactRow(q, repository, id)
  if (row === undefined) throw notFound('artifact')
  return row
}
