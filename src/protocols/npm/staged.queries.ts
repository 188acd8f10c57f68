import type { Queries } from '../../database/database.ts'

/** Versions of a package that have a stage, with one of them: nothing deletes them before it is taken from them. */
export const stagedVersions = (
  q: Queries,
  { repository, name }: { readonly repository: string; readonly name: string },
) =>
  q
    .selectFrom('npm_stages')
    .select(['version_id', 'version', 'stage'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .execute()

/** The stages of a version, in byte order. */
export const stageNamesOf = async (q: Queries, versionId: string): Promise<string[]> => {
  const rows = await q
    .selectFrom('npm_stages')
    .select('stage')
    .where('version_id', '=', versionId)
    .orderBy('stage')
    .execute()
  return rows.map(({ stage }) => stage)
}
