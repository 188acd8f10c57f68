import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'

export const blobPage = (q: Queries, after: string, limit: number) =>
  q
    .selectFrom('blobs')
    .select(['sha256', 'size', 'state', 'generation', 'inline'])
    .where('sha256', '>', after)
    .orderBy('sha256')
    .limit(limit)
    .execute()

/**
 * Bytes in the database that no row calls stored there. One statement, so that none is found for what a transaction
 * moves meanwhile.
 */
export const strayInline = (q: Queries, limit: number) =>
  q
    .selectFrom('inline_bytes')
    .leftJoin('blobs', (join) =>
      join
        .onRef('blobs.sha256', '=', 'inline_bytes.sha256')
        .onRef('blobs.generation', '=', 'inline_bytes.generation')
        .on('blobs.state', '=', 'stored')
        .on('blobs.inline', '=', 1),
    )
    .select((eb) => [
      'inline_bytes.generation',
      'inline_bytes.sha256',
      eb.fn<number>('length', ['inline_bytes.bytes']).as('bytes'),
    ])
    .where('blobs.sha256', 'is', null)
    .orderBy('inline_bytes.generation')
    .limit(limit)
    .execute()

/** Sums over claims beside the counters that claim to be those sums, for each repository that has either. */
export const repositorySums = (q: Queries) =>
  q
    .selectFrom('repositories')
    .leftJoin('claims', 'claims.repository', 'repositories.id')
    .select([
      'repositories.id',
      'repositories.published_bytes',
      'repositories.pending_bytes',
      'repositories.retired_bytes',
      sql<number>`cast(coalesce(sum(case when claims.state = 'live' then claims.size + claims.beside end), 0) as bigint)`.as(
        'live',
      ),
      sql<number>`cast(coalesce(sum(case when claims.state = 'pending' then claims.size + claims.beside end), 0) as bigint)`.as(
        'pending',
      ),
      sql<number>`cast(coalesce(sum(case when claims.state = 'retired' then claims.size + claims.beside end), 0) as bigint)`.as(
        'retired',
      ),
    ])
    .groupBy([
      'repositories.id',
      'repositories.published_bytes',
      'repositories.pending_bytes',
      'repositories.retired_bytes',
    ])
    .orderBy('repositories.id')
    .execute()

/** Live claims whose bytes, as many as they claim, no row calls stored. */
export const claimsWithoutBlob = (q: Queries, limit: number) =>
  q
    .selectFrom('claims')
    .leftJoin('blobs', (join) =>
      join
        .onRef('blobs.sha256', '=', 'claims.sha256')
        .onRef('blobs.size', '=', 'claims.size')
        .on('blobs.state', '=', 'stored'),
    )
    .select(['claims.id', 'claims.repository', 'claims.sha256', 'claims.size'])
    .where('claims.state', '=', 'live')
    .where('blobs.sha256', 'is', null)
    .limit(limit)
    .execute()

/** Blobs that nobody claims and that are not queued for reclaim: bytes that would stay for ever. */
export const forgottenBlobs = (q: Queries, limit: number) =>
  q
    .selectFrom('blobs')
    .leftJoin('claims', 'claims.sha256', 'blobs.sha256')
    .leftJoin('reclaim_candidates', 'reclaim_candidates.sha256', 'blobs.sha256')
    .select('blobs.sha256')
    .where('claims.id', 'is', null)
    .where('reclaim_candidates.sha256', 'is', null)
    .limit(limit)
    .execute()

export const candidateCount = async (q: Queries): Promise<number> =>
  Number(
    (
      await q
        .selectFrom('reclaim_candidates')
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )

/** Repositories in which somebody holds these bytes. */
export const repositoriesHolding = async (q: Queries, digest: string, limit: number): Promise<string[]> => {
  const rows = await q
    .selectFrom('claims')
    .select('repository')
    .distinct()
    .where('sha256', '=', digest)
    .orderBy('repository')
    .limit(limit)
    .execute()
  return rows.map(({ repository }) => repository)
}
