import type { Queries, Transaction } from '../../../database/database.ts'
import type { ArtifactsTable, DeletedArtifactsTable } from '../../../database/tables/artifacts.ts'

export const findDeleted = (q: Queries, repository: string, id: string): Promise<DeletedArtifactsTable | undefined> =>
  q
    .selectFrom('deleted_artifacts')
    .selectAll()
    .where('id', '=', id)
    .where('repository', '=', repository)
    .executeTakeFirst()

/** The grace period that a repository has of its own, or null. */
export const graceHoursOf = async (q: Queries, repository: string): Promise<number | null> =>
  (await q.selectFrom('repositories').select('grace_hours').where('id', '=', repository).executeTakeFirst())
    ?.grace_hours ?? null

export const moveToDeleted = async (tx: Transaction, row: ArtifactsTable, now: string): Promise<void> => {
  await tx
    .insertInto('deleted_artifacts')
    .values({ ...row, deleted_at: now, released_at: null })
    .execute()
  await tx.deleteFrom('artifacts').where('id', '=', row.id).execute()
}

export const moveBack = async (tx: Transaction, row: DeletedArtifactsTable): Promise<void> => {
  const { deleted_at: _, released_at: __, ...artifact } = row
  await tx.insertInto('artifacts').values(artifact).execute()
  await tx.deleteFrom('deleted_artifacts').where('id', '=', row.id).execute()
}

/** Notes that a file can no longer be brought back. Undefined where the claim was no deleted file's. */
export const markReleased = (
  tx: Transaction,
  id: string,
  now: string,
): Promise<Pick<DeletedArtifactsTable, 'repository' | 'sha256'> | undefined> =>
  tx
    .updateTable('deleted_artifacts')
    .set({ released_at: now })
    .where('id', '=', id)
    .returning(['repository', 'sha256'])
    .executeTakeFirst()

/** Deleted files whose bytes were given up that long ago. */
export const releasedBefore = async (q: Queries, before: string, limit: number): Promise<string[]> =>
  (await q.selectFrom('deleted_artifacts').select('id').where('released_at', '<=', before).limit(limit).execute()).map(
    ({ id }) => id,
  )

/** Only what was released: nobody can bring that back, whoever asks meanwhile. */
export const forgetReleased = async (tx: Transaction, ids: readonly string[]): Promise<void> => {
  await tx.deleteFrom('deleted_artifacts').where('id', 'in', ids).where('released_at', 'is not', null).execute()
}

/** None of these files will be a copy of another one again. */
export const forgetCopies = async (tx: Transaction, copyIds: readonly string[]): Promise<void> => {
  await tx.deleteFrom('promotions').where('copy_id', 'in', copyIds).execute()
}

/** The row of an object of Git LFS that was deleted. Undefined where the claim was none's. */
export const deleteLfsObject = (
  tx: Transaction,
  id: string,
): Promise<{ readonly repository: string; readonly sha256: string } | undefined> =>
  tx.deleteFrom('lfs_objects').where('id', '=', id).returning(['repository', 'sha256']).executeTakeFirst()
