import type { Queries, Transaction } from '../../../database/database.ts'
import type { AttachmentRevisionsTable, AttachmentsTable } from '../../../database/tables/attachments.ts'

/** Revisions of a build's attachments below one, newest first. */
export const listRevisionRows = (
  q: Queries,
  artifactId: string,
  before: number,
  limit: number,
): Promise<AttachmentRevisionsTable[]> =>
  q
    .selectFrom('attachment_revisions')
    .selectAll()
    .where('artifact_id', '=', artifactId)
    .where('revision', '<', before)
    .orderBy('revision', 'desc')
    .limit(limit)
    .execute()

/** What these revisions hold, each in the order in which it was given. */
export const listItemRows = (
  q: Queries,
  artifactId: string,
  { oldest, newest }: { oldest: number; newest: number },
): Promise<AttachmentsTable[]> =>
  q
    .selectFrom('attachments')
    .selectAll()
    .where('artifact_id', '=', artifactId)
    .where('revision', '>=', oldest)
    .where('revision', '<=', newest)
    .orderBy('revision')
    .orderBy('position')
    .execute()

export const insertRevision = async (
  tx: Transaction,
  row: AttachmentRevisionsTable,
  items: readonly AttachmentsTable[],
): Promise<void> => {
  await tx.insertInto('attachment_revisions').values(row).execute()
  if (items.length > 0) await tx.insertInto('attachments').values(items).execute()
}

/** Removes at most `limit` revisions of a build, the oldest first. How many they were. */
export const deleteOldestRevisions = async (tx: Transaction, artifactId: string, limit: number): Promise<number> => {
  const oldest = await tx
    .selectFrom('attachment_revisions')
    .select('revision')
    .where('artifact_id', '=', artifactId)
    .orderBy('revision')
    .limit(limit)
    .execute()
  const last = oldest.at(-1)
  if (last === undefined) return 0
  for (const table of ['attachments', 'attachment_revisions'] as const)
    await tx.deleteFrom(table).where('artifact_id', '=', artifactId).where('revision', '<=', last.revision).execute()
  return oldest.length
}

/** Builds with attachments of which nothing else is known any more. */
export const attachmentsWithoutBuild = (q: Queries, limit: number) =>
  q
    .selectFrom('attachment_revisions')
    .leftJoin('artifacts', 'artifacts.id', 'attachment_revisions.artifact_id')
    .leftJoin('deleted_artifacts', 'deleted_artifacts.id', 'attachment_revisions.artifact_id')
    .select('attachment_revisions.artifact_id')
    .distinct()
    .where('artifacts.id', 'is', null)
    .where('deleted_artifacts.id', 'is', null)
    .limit(limit)
    .execute()

/** Published builds that have or had a published file of another repository attached. */
export const attachmentsElsewhere = (q: Queries, limit: number) =>
  q
    .selectFrom('attachments')
    .innerJoin('artifacts as build', 'build.id', 'attachments.artifact_id')
    .innerJoin('artifacts as target', 'target.id', 'attachments.target_id')
    .select(['build.repository', 'attachments.artifact_id', 'attachments.target_id'])
    .distinct()
    .whereRef('build.repository', '!=', 'target.repository')
    .limit(limit)
    .execute()
