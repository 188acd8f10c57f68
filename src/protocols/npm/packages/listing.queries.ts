import { sql } from 'kysely'
import { countUpTo } from '../../../database/count-up-to.queries.ts'
import type { Queries } from '../../../database/database.ts'

type Named = { readonly repository: string; readonly name: string }

const listed = (q: Queries, repository: string) =>
  q
    .selectFrom('npm_packages')
    .select(['name', 'versions', 'summary', 'created_at', 'modified_at'])
    .where('repository', '=', repository)
    .where('versions', '>', 0)
    .orderBy('name')

/** Packages that have a version behind a name, in the order of their names. */
export const packagePage = (q: Queries, repository: string, last: string, limit: number) =>
  listed(q, repository).where('name', '>', last).limit(limit).execute()

/** How many of those there are, up to so many. */
export const countPackageRows = (q: Queries, repositories: readonly string[], most: number) =>
  countUpTo(
    q,
    repositories,
    (eb) =>
      eb
        .selectFrom('npm_packages')
        .whereRef('npm_packages.repository', '=', 'repositories.id')
        .where('npm_packages.versions', '>', 0)
        // By the index that has them in order: where many are of one repository, looking anywhere finds some as soon.
        .orderBy('npm_packages.name'),
    most,
  )

/** Names of the same. */
export const packageNames = async (q: Queries, repository: string, last: string, limit: number): Promise<string[]> => {
  const rows = listed(q, repository).clearSelect().select('name').where('name', '>', last)
  return (await rows.limit(limit).execute()).map(({ name }) => name)
}

/** Those of some names. */
export const packagesCalled = (q: Queries, repository: string, names: readonly string[]) =>
  listed(q, repository).where('name', 'in', names).execute()

/** The package is looked up by itself, so that its versions come in the order of their index. */
const versions = (q: Queries, { repository, name }: Named) =>
  q
    .selectFrom('npm_versions')
    .select([
      'id',
      'version',
      'number',
      'size',
      'deprecated',
      'published_at as publishedAt',
      'actor',
      'deleted_at as deletedAt',
    ])
    .where('package_id', '=', (eb) =>
      eb
        .selectFrom('npm_packages')
        .select('npm_packages.id')
        .where('npm_packages.repository', '=', repository)
        .where('npm_packages.name', '=', name),
    )
    .orderBy('number', 'desc')

/** Versions that came before one, the newest first. */
export const versionPage = (q: Queries, here: Named, before: number, limit: number) =>
  versions(q, here).where('number', '<', before).where('deleted_at', 'is', null).limit(limit).execute()

/** The same of those that were deleted. */
export const deletedPage = (q: Queries, here: Named, before: number, limit: number) =>
  versions(q, here).where('number', '<', before).where('deleted_at', 'is not', null).limit(limit).execute()

/** Tags of some versions, in any order. */
export const tagsAt = (q: Queries, ids: readonly string[]) =>
  q.selectFrom('npm_tags').select(['tag', 'version_id']).where('version_id', 'in', ids).execute()

/** Of one version, what only whoever opens it is told. */
export const openedVersion = (q: Queries, { repository, name }: Named, version: string) =>
  q
    .selectFrom('npm_versions')
    .select([
      'id',
      'version',
      'size',
      'deprecated',
      'published_at as publishedAt',
      'actor',
      'files',
      'unpacked_size',
      'sha1',
      'sha512',
      'manifest',
      'readme',
      sql<number>`case when attestations is null then 0 else 1 end`.as('attested'),
    ])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '=', version)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

/** The grace period that a repository was given of its own; null where it has that of the server. */
export const graceHoursHere = async (q: Queries, repository: string): Promise<number | null> =>
  (await q.selectFrom('repositories').select('grace_hours').where('id', '=', repository).executeTakeFirst())
    ?.grace_hours ?? null
