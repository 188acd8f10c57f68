import type { Queries } from '../../database/database.ts'
import type { ArtifactsTable } from '../../database/tables/artifacts.ts'

export const listArtifactRows = (
  q: Queries,
  repository: string,
  after: string,
  limit: number,
): Promise<ArtifactsTable[]> =>
  q
    .selectFrom('artifacts')
    .selectAll()
    .where('repository', '=', repository)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()

export const findArtifactRow = (q: Queries, repository: string, id: string): Promise<ArtifactsTable | undefined> =>
  q.selectFrom('artifacts').selectAll().where('id', '=', id).where('repository', '=', repository).executeTakeFirst()
