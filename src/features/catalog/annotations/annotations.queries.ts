import type { Queries, Transaction } from '../../../database/database.ts'
import type { AnnotationsTable } from '../../../database/tables/annotations.ts'

export const findAnnotations = (q: Queries, artifactId: string): Promise<AnnotationsTable | undefined> =>
  q.selectFrom('annotations').selectAll().where('artifact_id', '=', artifactId).executeTakeFirst()

export const insertAnnotations = async (tx: Transaction, row: AnnotationsTable): Promise<void> => {
  await tx.insertInto('annotations').values(row).execute()
}

export const updateAnnotations = async (tx: Transaction, row: AnnotationsTable): Promise<void> => {
  const { artifact_id, ...values } = row
  await tx.updateTable('annotations').set(values).where('artifact_id', '=', artifact_id).execute()
}

export const deleteAnnotations = async (tx: Transaction, artifactId: string): Promise<void> => {
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
