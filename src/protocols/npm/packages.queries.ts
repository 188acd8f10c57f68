import type { Queries } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { NpmPackagesTable } from '../../database/tables/npm.ts'

type Named = { readonly repository: string; readonly name: string }

/** What every request asks of a package. */
export type PackageState = Pick<NpmPackagesTable, 'id' | 'revision' | 'modified_at' | 'versions'>

const state = prepareQuery(
  (q, p: Parameters<Named>) =>
    q
      .selectFrom('npm_packages')
      .select(['id', 'revision', 'modified_at', 'versions'])
      .where('repository', '=', p('repository'))
      .where('name', '=', p('name'))
      .where('versions', '>', 0),
  { planned: 'once' },
)

/** A package that has a version. */
export const packageState = async (q: Queries, { repository, name }: Named): Promise<PackageState | undefined> =>
  (await state(q, { repository, name }))[0]

const versionColumns = [
  'id',
  'package_id',
  'repository',
  'name',
  'version',
  'number',
  'piece',
  'sha256',
  'size',
  'sha1',
  'sha512',
  'files',
  'unpacked_size',
  'deprecated',
  'published_at',
  'actor',
  'deleted_at',
] as const

const file = prepareQuery(
  (q, p: Parameters<Named & { version: string }>) =>
    q
      .selectFrom('npm_versions')
      .select(['sha256', 'size', 'published_at'])
      .where('repository', '=', p('repository'))
      .where('name', '=', p('name'))
      .where('version', '=', p('version'))
      .where('deleted_at', 'is', null),
  { planned: 'once' },
)

/** The tarball of a version that is there. */
export const findFile = async (q: Queries, { repository, name }: Named, version: string) =>
  (await file(q, { repository, name, version }))[0]

/** A version that is there, with what it is in documents. */
export const findVersion = (q: Queries, { repository, name }: Named, version: string) =>
  q
    .selectFrom('npm_versions')
    .select([...versionColumns, 'manifest', 'attestations'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '=', version)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

/** The version that a tag is at. */
export const taggedVersion = async (
  q: Queries,
  { repository, name }: Named,
  tag: string,
): Promise<string | undefined> =>
  (
    await q
      .selectFrom('npm_tags')
      .innerJoin('npm_packages', 'npm_packages.id', 'npm_tags.package_id')
      .innerJoin('npm_versions', 'npm_versions.id', 'npm_tags.version_id')
      .select('npm_versions.version')
      .where('npm_packages.repository', '=', repository)
      .where('npm_packages.name', '=', name)
      .where('npm_tags.tag', '=', tag)
      .executeTakeFirst()
  )?.version

const tags = prepareQuery((q, p: Parameters<{ packageId: string }>) =>
  q
    .selectFrom('npm_tags')
    .innerJoin('npm_versions', 'npm_versions.id', 'npm_tags.version_id')
    .select(['npm_tags.tag', 'npm_versions.version', 'npm_tags.version_id'])
    .where('npm_tags.package_id', '=', p('packageId'))
    .orderBy('npm_tags.tag'),
)

/** Tags of a package with the versions that they are at, by name. */
export const tagsOf = (q: Queries, packageId: string) => tags(q, { packageId })

/** Versions of a package that are there, in the order in which they came. */
export const versionIds = (q: Queries, packageId: string) =>
  q
    .selectFrom('npm_versions')
    .select(['id', 'version'])
    .where('package_id', '=', packageId)
    .where('deleted_at', 'is', null)
    .orderBy('number')
    .execute()

/** A version that was deleted and can be brought back. */
export const deletedVersion = (q: Queries, { repository, name }: Named, version: string) =>
  q
    .selectFrom('npm_versions')
    .select([...versionColumns, 'manifest', 'attestations'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '=', version)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
