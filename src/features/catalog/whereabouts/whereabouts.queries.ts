import type { Queries } from '../../../database/database.ts'

/** Paths that show a file now, after one of them, in the order of their bytes. */
export const pathsOf = (q: Queries, repository: string, artifactId: string, after: string, limit: number) =>
  q
    .selectFrom('assets')
    .select(['path', 'revision'])
    .where('artifact_id', '=', artifactId)
    .where('repository', '=', repository)
    .where('path', '>', after)
    .orderBy('path')
    .limit(limit)
    .execute()

/** The version that a file is; one at most. */
export const versionsOf = (q: Queries, artifactId: string) =>
  q.selectFrom('packages').select(['group_name', 'name', 'version']).where('artifact_id', '=', artifactId).execute()
