import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type {
  NpmCachedPackagesTable,
  NpmCachedPiecesTable,
  NpmCachedVersionsTable,
} from '../../../database/tables/npm-upstreams.ts'

type Named = { readonly repository: string; readonly name: string }

const packageColumns = [
  'id',
  'repository',
  'name',
  'url',
  'etag',
  'sha256',
  'revision',
  'fetched_at',
  'checked_at',
  'versions',
  'left_out',
  'tags',
  'bytes',
  'failure',
  'failed_at',
] as const

const cached = prepareQuery(
  (q, p: Parameters<Named>) =>
    q
      .selectFrom('npm_cached_packages')
      .select(packageColumns)
      .where('repository', '=', p('repository'))
      .where('name', '=', p('name')),
  { planned: 'once' },
)

/** What is known of a package of an upstream. */
export const findCached = async (
  q: Queries,
  { repository, name }: Named,
): Promise<NpmCachedPackagesTable | undefined> => (await cached(q, { repository, name }))[0]

const cachedFile = prepareQuery(
  (q, p: Parameters<Named & { version: string; url: string }>) =>
    q
      .selectFrom('npm_cached_versions')
      .innerJoin('npm_cached_packages', 'npm_cached_packages.id', 'npm_cached_versions.package_id')
      .select(['npm_cached_versions.sha256', 'size', 'npm_cached_versions.fetched_at'])
      .where('npm_cached_versions.repository', '=', p('repository'))
      .where('npm_cached_versions.name', '=', p('name'))
      .where('version', '=', p('version'))
      .where('url', '=', p('url')),
  { planned: 'once' },
)

/** A tarball that is kept, and came from an upstream: what a former one sent is nothing that another one has. */
export const findCachedFile = async (q: Queries, { repository, name }: Named, version: string, url: string) =>
  (await cachedFile(q, { repository, name, version, url }))[0]

/** What the tarballs of a package are that are kept. */
export const keptHashesOf = (q: Queries, { repository, name }: Named) =>
  q
    .selectFrom('npm_cached_versions')
    .select(['version', 'sha1', 'sha512'])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .execute()

/** Pieces of a document behind a number, in their order. */
export const cachedPieces = (
  q: Queries,
  packageId: string,
  part: NpmCachedPiecesTable['part'],
  after: number,
  limit: number,
) =>
  q
    .selectFrom('npm_cached_pieces')
    .select(['number', 'bytes'])
    .where('package_id', '=', packageId)
    .where('part', '=', part)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute()

/** Which document is kept of a package. */
export const cachedRevision = async (q: Queries, packageId: string): Promise<number | undefined> =>
  (await q.selectFrom('npm_cached_packages').select('revision').where('id', '=', packageId).executeTakeFirst())
    ?.revision

export const putCached = async (tx: Transaction, row: NpmCachedPackagesTable): Promise<void> => {
  const { id: _, ...rest } = row
  await tx
    .insertInto('npm_cached_packages')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute()
}

export const updateCached = async (
  tx: Transaction,
  { id, ...row }: Partial<NpmCachedPackagesTable> & { readonly id: string },
): Promise<void> => {
  await tx.updateTable('npm_cached_packages').set(row).where('id', '=', id).execute()
}

export const insertCachedPiece = async (tx: Transaction, row: NpmCachedPiecesTable): Promise<void> => {
  await tx.insertInto('npm_cached_pieces').values(row).execute()
}

export const deleteCachedPieces = async (tx: Transaction, packageIds: readonly string[]): Promise<void> => {
  await tx.deleteFrom('npm_cached_pieces').where('package_id', 'in', packageIds).execute()
}

/** What the documents take that are kept of a repository. */
export const cachedBytes = async (tx: Transaction, repository: string): Promise<number> =>
  Number(
    (
      await tx
        .selectFrom('npm_cached_packages')
        .select((eb) => eb.fn.sum<number | string | null>('bytes').as('bytes'))
        .where('repository', '=', repository)
        .where('bytes', '>', 0)
        .executeTakeFirstOrThrow()
    ).bytes ?? 0,
  )

/** Documents that were not asked for the longest. */
export const leastUsedDocuments = (tx: Transaction, repository: string, limit: number) =>
  tx
    .selectFrom('npm_cached_packages')
    .select(['id', 'bytes'])
    .where('repository', '=', repository)
    .where('bytes', '>', 0)
    .orderBy('checked_at')
    .limit(limit)
    .execute()

/** Nothing is known of their documents any more, so that they are fetched anew. */
export const forgetDocuments = async (tx: Transaction, packageIds: readonly string[]): Promise<void> => {
  await deleteCachedPieces(tx, packageIds)
  await tx
    .updateTable('npm_cached_packages')
    .set((eb) => ({
      ...{ etag: null, sha256: null, versions: 0, left_out: 0, tags: '{}', bytes: 0 },
      // Whoever is reading the pieces sees that they are another document's, or none's.
      revision: eb('revision', '+', 1),
    }))
    .where('id', 'in', packageIds)
    .execute()
}

/** Those of some packages of which nothing is left. */
export const deleteEmptyPackages = async (tx: Transaction, packageIds: readonly string[]): Promise<void> => {
  await tx
    .deleteFrom('npm_cached_packages')
    .where('id', 'in', packageIds)
    .where('bytes', '=', 0)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('npm_cached_versions')
            .select('npm_cached_versions.id')
            .whereRef('npm_cached_versions.package_id', '=', 'npm_cached_packages.id'),
        ),
      ),
    )
    .execute()
}

export const insertCachedVersion = async (tx: Transaction, row: NpmCachedVersionsTable): Promise<void> => {
  await tx.insertInto('npm_cached_versions').values(row).execute()
}

/** Whether a name was ever one of the repository's own: then it is none of an upstream's. */
export const isOwnName = async (q: Queries, { repository, name }: Named): Promise<boolean> => {
  for (const table of ['npm_packages', 'npm_taken_versions'] as const) {
    const found = await q
      .selectFrom(table)
      .select('name')
      .where('repository', '=', repository)
      .where('name', '=', name)
      .limit(1)
      .executeTakeFirst()
    if (found !== undefined) return true
  }
  return false
}

/** Which installation this is. */
export const installationIdentity = async (q: Queries): Promise<string> =>
  (await q.selectFrom('installation').select('identity').executeTakeFirstOrThrow()).identity
