import type { Queries } from '../../database/database.ts'

/** Objects whose claim is another, or has another state than they. */
export const objectsWithoutClaim = (q: Queries, limit: number) =>
  q
    .selectFrom('lfs_objects')
    .leftJoin('claims', (join) =>
      join
        .onRef('claims.id', '=', 'lfs_objects.id')
        .onRef('claims.sha256', '=', 'lfs_objects.sha256')
        .onRef('claims.size', '=', 'lfs_objects.size'),
    )
    .select(['lfs_objects.id', 'lfs_objects.repository', 'lfs_objects.sha256'])
    .where((eb) =>
      eb.or([
        eb('claims.id', 'is', null),
        eb.and([eb('lfs_objects.deleted_at', 'is', null), eb('claims.state', '!=', 'live')]),
        eb.and([eb('lfs_objects.deleted_at', 'is not', null), eb('claims.state', '!=', 'retired')]),
      ]),
    )
    .limit(limit)
    .execute()

/** Claims for objects that no object has, nor an upload that is under way or was cancelled. */
export const claimsWithoutObject = (q: Queries, limit: number) =>
  q
    .selectFrom('claims')
    .leftJoin('lfs_objects', 'lfs_objects.id', 'claims.id')
    .leftJoin('uploads', (join) =>
      join.onRef('uploads.id', '=', 'claims.id').on('uploads.status', 'in', ['pending', 'cancelled']),
    )
    .select(['claims.id', 'claims.repository', 'claims.state'])
    .where('claims.holder', '=', 'lfs-object')
    .where('lfs_objects.id', 'is', null)
    .where((eb) => eb.or([eb('uploads.id', 'is', null), eb('claims.state', '=', 'live')]))
    .limit(limit)
    .execute()
