import type { Queries } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
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

const artifactRow = prepareQuery((q, p: Parameters<{ repository: string; id: string }>) =>
  q.selectFrom('artifacts').selectAll().where('id', '=', p('id')).where('repository', '=', p('repository')),
)

export const findArtifactRow = async (
  q: Queries,
  repository: string,
  id: string,
): Promise<ArtifactsTable | undefined> => (await artifactRow(q, { repository, id }))[0]

export const artifactsWithoutClaim = (q: Queries, limit: number) =>
  q
    .selectFrom('artifacts')
    .leftJoin('claims', (join) =>
      join
        .onRef('claims.id', '=', 'artifacts.id')
        .onRef('claims.sha256', '=', 'artifacts.sha256')
        .onRef('claims.size', '=', 'artifacts.size')
        .on('claims.state', '=', 'live'),
    )
    .select(['artifacts.id', 'artifacts.repository'])
    .where('claims.id', 'is', null)
    .limit(limit)
    .execute()

/** What is live is held by an artifact; what is not yet or no longer, by the upload it came by. */
export const claimsWithoutHolder = (q: Queries, limit: number) =>
  q
    .selectFrom('claims')
    .leftJoin('artifacts', 'artifacts.id', 'claims.id')
    .leftJoin('uploads', 'uploads.id', 'claims.id')
    .select(['claims.id', 'claims.repository', 'claims.state'])
    .where('artifacts.id', 'is', null)
    .where((eb) => eb.or([eb('uploads.id', 'is', null), eb('claims.state', '=', 'live')]))
    .limit(limit)
    .execute()
