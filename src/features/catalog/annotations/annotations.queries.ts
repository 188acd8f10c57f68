import type { Queries, Transaction } from '../../../database/database.ts'
import type { AnnotationRevisionsTable, AnnotationsTable } from '../../../database/tables/annotations.ts'

export const findAnnotations = (q: Queries, artifactId: string): Promise<AnnotationsTable | undefined> =>
  q.selectFrom('annotations').selectAll().where('artifact_id', '=', artifactId).executeTakeFirst()

export const insertAnnotations = async (tx: Transaction, row: AnnotationsTable): Promise<void> => {
  await tx.insertInto('annotations').values(row).execute()
}

export const updateAnnotations = async (tx: Transaction, row: AnnotationsTable): Promise<void> => {
  const { artifact_id, ...values } = row
  await tx.updateTable('annotations').set(values).where('artifact_id', '=', artifact_id).execute()
}

/** One more revision, and the one away that is no longer among so many. */
export const insertRevision = async (tx: Transaction, row: AnnotationRevisionsTable, kept: number): Promise<void> => {
  await tx.insertInto('annotation_revisions').values(row).execute()
  await tx
    .deleteFrom('annotation_revisions')
    .where('artifact_id', '=', row.artifact_id)
    .where('revision', '<=', row.revision - kept)
    .execute()
}

/** Revisions below one, newest first. */
export const listRevisions = (
  q: Queries,
  artifactId: string,
  before: number,
  limit: number,
): Promise<AnnotationRevisionsTable[]> =>
  q
    .selectFrom('annotation_revisions')
    .selectAll()
    .where('artifact_id', '=', artifactId)
    .where('revision', '<', before)
    .orderBy('revision', 'desc')
    .limit(limit)
    .execute()

export const deleteAnnotations = async (tx: Transaction, artifactId: string): Promise<void> => {
  await tx.deleteFrom('annotation_revisions').where('artifact_id', '=', artifactId).execute()
  await tx.deleteFrom('annotations').where('artifact_id', '=', artifactId).execute()
}

/** Annotations of files that are neither published nor to be brought back. */
export const annotationsOfNothing = (q: Queries, limit: number): Promise<Pick<AnnotationsTable, 'artifact_id'>[]> =>
  q
    .selectFrom('annotations')
    .leftJoin('artifacts', 'artifacts.id', 'annotations.artifact_id')
    .leftJoin('deleted_artifacts', (join) =>
      join
        .onRef('deleted_artifacts.id', '=', 'annotations.artifact_id')
        .on('deleted_artifacts.released_at', 'is', null),
    )
    .select('annotations.artifact_id')
    .where('artifacts.id', 'is', null)
    .where('deleted_artifacts.id', 'is', null)
    .limit(limit)
    .execute()
