import { countUpTo } from '../../../database/count-up-to.queries.ts'
import type { Queries } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import { idsBeyond, type Start } from '../../../kernel/order.ts'

export const listArtifactRows = (
  q: Queries,
  repository: string,
  start: Start,
  limit: number,
): Promise<ArtifactsTable[]> => {
  const { is, id } = idsBeyond(start)
  return q
    .selectFrom('artifacts')
    .selectAll()
    .where('repository', '=', repository)
    .where('id', is, id)
    .orderBy('id', start.order)
    .limit(limit)
    .execute()
}

export const countArtifactRows = (q: Queries, repositories: readonly string[], most: number) =>
  countUpTo(
    q,
    repositories,
    (eb) => eb.selectFrom('artifacts').whereRef('artifacts.repository', '=', 'repositories.id'),
    most,
  )

const artifactRow = prepareQuery((q, p: Parameters<{ repository: string; id: string }>) =>
  q.selectFrom('artifacts').selectAll().where('id', '=', p('id')).where('repository', '=', p('repository')),
)

export const findArtifactRow = async (
  q: Queries,
  repository: string,
  id: string,
): Promise<ArtifactsTable | undefined> => (await artifactRow(q, { repository, id }))[0]

export const publishedIds = async (q: Queries, repository: string, ids: readonly string[]): Promise<string[]> =>
  (
    await q.selectFrom('artifacts').select('id').where('repository', '=', repository).where('id', 'in', ids).execute()
  ).map(({ id }) => id)

/** What files are called, those that were deleted and can be restored among them. */
export const artifactNameRows = (q: Queries, repository: string, ids: readonly string[]) =>
  q
    .selectFrom('artifacts')
    .select(['id', 'name'])
    .where('repository', '=', repository)
    .where('id', 'in', ids)
    .unionAll(
      q
        .selectFrom('deleted_artifacts')
        .select(['id', 'name'])
        .where('repository', '=', repository)
        .where('id', 'in', ids),
    )
    .execute()

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

/**
 * Claims for artifacts that nothing holds: what is live is held by an artifact; what is not yet or no longer, by a
 * deleted one or the upload that it was to come by.
 */
export const claimsWithoutHolder = (q: Queries, limit: number) =>
  q
    .selectFrom('claims')
    .leftJoin('artifacts', 'artifacts.id', 'claims.id')
    .leftJoin('uploads', (join) =>
      join.onRef('uploads.id', '=', 'claims.id').on('uploads.status', 'in', ['pending', 'cancelled']),
    )
    .leftJoin('deleted_artifacts', 'deleted_artifacts.id', 'claims.id')
    .select(['claims.id', 'claims.repository', 'claims.state'])
    .where('claims.holder', '=', 'artifact')
    .where('artifacts.id', 'is', null)
    .where((eb) =>
      eb.or([
        eb.and([eb('uploads.id', 'is', null), eb('deleted_artifacts.id', 'is', null)]),
        eb('claims.state', '=', 'live'),
      ]),
    )
    .limit(limit)
    .execute()

/** Deleted files that are said to be restorable and have nothing left to be restored from. */
export const deletedWithoutClaim = (q: Queries, limit: number) =>
  q
    .selectFrom('deleted_artifacts')
    .leftJoin('claims', (join) =>
      join.onRef('claims.id', '=', 'deleted_artifacts.id').on('claims.state', '=', 'retired'),
    )
    .innerJoin('repositories', 'repositories.id', 'deleted_artifacts.repository')
    .select(['deleted_artifacts.id', 'deleted_artifacts.repository'])
    .where('deleted_artifacts.released_at', 'is', null)
    .where('repositories.deleted_at', 'is', null)
    .where('claims.id', 'is', null)
    .limit(limit)
    .execute()

/** Deleted files of which their claims say otherwise: what they are, when they were deleted, that they are there. */
export const deletedBesideClaim = (q: Queries, limit: number) =>
  q
    .selectFrom('deleted_artifacts')
    .innerJoin('claims', 'claims.id', 'deleted_artifacts.id')
    .select(['deleted_artifacts.id', 'deleted_artifacts.repository'])
    .where('claims.state', '=', 'retired')
    .where((eb) =>
      eb.or([
        eb('claims.sha256', 'is', null),
        eb('claims.sha256', '<>', eb.ref('deleted_artifacts.sha256')),
        eb('claims.size', '<>', eb.ref('deleted_artifacts.size')),
        eb('claims.retired_at', '<>', eb.ref('deleted_artifacts.deleted_at')),
        eb('deleted_artifacts.released_at', 'is not', null),
      ]),
    )
    .limit(limit)
    .execute()
