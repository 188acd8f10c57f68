import type { Queries } from '../../../database/database.ts'

/**
 * Published files among the given ones, each with what keeps it: in one statement, so that all of it is of one moment.
 * Every condition is one look into an index. What a deleted build had attached keeps nothing.
 */
export const findWithBlockers = (q: Queries, repository: string, ids: readonly string[]) =>
  q
    .selectFrom('artifacts')
    .leftJoin('annotations', 'annotations.artifact_id', 'artifacts.id')
    .selectAll('artifacts')
    .select((eb) => [
      'annotations.revision as annotation_revision',
      'annotations.labels as annotated_labels',
      eb
        .exists(
          eb
            .selectFrom('artifact_references')
            .select('artifact_references.key')
            .whereRef('artifact_references.artifact_id', '=', 'artifacts.id'),
        )
        .as('is_referenced'),
      eb
        .exists(
          eb
            .selectFrom('asset_revisions')
            .select('asset_revisions.path')
            .whereRef('asset_revisions.artifact_id', '=', 'artifacts.id'),
        )
        .as('is_in_path_history'),
      eb
        .exists(
          eb
            .selectFrom('attachments')
            .innerJoin('artifacts as build', 'build.id', 'attachments.artifact_id')
            .select('build.id')
            .whereRef('attachments.target_id', '=', 'artifacts.id'),
        )
        .as('is_in_attachment_history'),
      eb
        .exists(
          eb
            .selectFrom('artifact_stages')
            .select('artifact_stages.stage')
            .whereRef('artifact_stages.artifact_id', '=', 'artifacts.id'),
        )
        .as('has_stage'),
    ])
    .where('artifacts.repository', '=', repository)
    .where('artifacts.id', 'in', ids)
    .execute()

export const findLabels = (q: Queries, repository: string, ids: readonly string[]) =>
  q
    .selectFrom('artifacts')
    .leftJoin('annotations', 'annotations.artifact_id', 'artifacts.id')
    .select(['artifacts.id', 'artifacts.labels', 'annotations.labels as annotated_labels'])
    .where('artifacts.repository', '=', repository)
    .where('artifacts.id', 'in', ids)
    .execute()
