import { type Expression, sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'

/** All that packages know of stages stands in this file. */

/** Makes the derived rows of a package what its artifact's stages say. Nothing for what is no package. */
export const deriveStages = async (tx: Transaction, artifactId: string): Promise<void> => {
  await forgetStages(tx, artifactId)
  await tx
    .insertInto('package_stages')
    .columns([
      'artifact_id',
      'stage',
      'repository',
      'group_key',
      'name_key',
      'prerelease',
      'version_key',
      'promoted_at',
    ])
    .expression(
      tx
        .selectFrom('artifact_stages as s')
        .innerJoin('packages as p', 'p.artifact_id', 's.artifact_id')
        .select([
          's.artifact_id',
          's.stage',
          'p.repository',
          'p.group_key',
          'p.name_key',
          'p.prerelease',
          'p.version_key',
          's.promoted_at',
        ])
        .where('s.artifact_id', '=', artifactId),
    )
    .execute()
}

export const forgetStages = async (tx: Transaction, artifactId: string): Promise<void> => {
  await tx.deleteFrom('package_stages').where('artifact_id', '=', artifactId).execute()
}

/** The names of an artifact's stages in any order, with commas between them; null where there are none. */
export const stageNames = (artifactId: Expression<string>) =>
  sql<string | null>`(select string_agg(t.stage, ',') from artifact_stages as t
    where t.artifact_id = ${artifactId})`

/** Packages whose derived stages are not those of their artifact. */
export const packagesBesideStages = (q: Queries, limit: number) =>
  q
    .selectFrom('packages as p')
    .innerJoin('artifact_stages as s', 's.artifact_id', 'p.artifact_id')
    .leftJoin('package_stages as d', (join) =>
      join
        .onRef('d.artifact_id', '=', 's.artifact_id')
        .onRef('d.stage', '=', 's.stage')
        .onRef('d.promoted_at', '=', 's.promoted_at')
        .onRef('d.repository', '=', 'p.repository')
        .onRef('d.group_key', '=', 'p.group_key')
        .onRef('d.name_key', '=', 'p.name_key')
        .onRef('d.prerelease', '=', 'p.prerelease')
        .onRef('d.version_key', '=', 'p.version_key'),
    )
    .select(['p.artifact_id', 'p.repository'])
    .where('d.artifact_id', 'is', null)
    .union(
      q
        .selectFrom('package_stages as d')
        .leftJoin('artifact_stages as s', (join) =>
          join.onRef('s.artifact_id', '=', 'd.artifact_id').onRef('s.stage', '=', 'd.stage'),
        )
        .select(['d.artifact_id', 'd.repository'])
        .where('s.artifact_id', 'is', null),
    )
    .limit(limit)
    .execute()
