import { sql } from 'kysely'
import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type {
  NpmDocumentsTable,
  NpmPackagesTable,
  NpmPiecesTable,
  NpmTagsTable,
  NpmVersionsTable,
} from '../../database/tables/npm.ts'

type Named = { readonly repository: string; readonly name: string }

const byName = prepareQuery((q, p: Parameters<Named>) =>
  q.selectFrom('npm_packages').selectAll().where('repository', '=', p('repository')).where('name', '=', p('name')),
)

/** A package, also one without versions. */
export const findPackage = async (q: Queries, { repository, name }: Named): Promise<NpmPackagesTable | undefined> =>
  (await byName(q, { repository, name }))[0]

const byId = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.selectFrom('npm_packages').selectAll().where('id', '=', p('id')),
)

export const packageById = async (tx: Transaction, id: string): Promise<NpmPackagesTable> => {
  const [row] = await byId(tx, { id })
  if (row === undefined) throw new Error(`no package ${id}`)
  return row
}

export const insertPackage = prepareQuery((q, p: Parameters<NpmPackagesTable>) =>
  q.insertInto('npm_packages').values({
    id: p('id'),
    repository: p('repository'),
    name: p('name'),
    revision: p('revision'),
    created_at: p('created_at'),
    modified_at: p('modified_at'),
    versions: p('versions'),
    last_number: p('last_number'),
    maintainers: p('maintainers'),
    stars: p('stars'),
    summary: p('summary'),
    found_by: p('found_by'),
  }),
)

export const updatePackage = async (
  tx: Transaction,
  { id, ...row }: Partial<NpmPackagesTable> & { readonly id: string },
): Promise<void> => {
  await tx.updateTable('npm_packages').set(row).where('id', '=', id).execute()
}

/** What a package is after a change, as lists and documents show it. */
export const settle = prepareQuery(
  (q, p: Parameters<Pick<NpmPackagesTable, 'id' | 'revision' | 'modified_at' | 'summary' | 'found_by'>>) =>
    q
      .updateTable('npm_packages')
      .set({
        revision: p('revision'),
        modified_at: p('modified_at'),
        summary: p('summary'),
        found_by: p('found_by'),
      })
      .where('id', '=', p('id')),
)

export const putDocuments = prepareQuery((q, p: Parameters<NpmDocumentsTable>) => {
  const texts = { head: p('head'), times: p('times'), tail: p('tail'), abbreviated_head: p('abbreviated_head') }
  return q
    .insertInto('npm_documents')
    .values({ package_id: p('package_id'), ...texts })
    .onConflict((conflict) => conflict.column('package_id').doUpdateSet(texts))
})

const taken = prepareQuery((q, p: Parameters<Named & { version: string }>) => {
  const among = (table: 'npm_versions' | 'npm_taken_versions') =>
    q
      .selectFrom(table)
      .select('version')
      .where('repository', '=', p('repository'))
      .where('name', '=', p('name'))
      .where('version', '=', p('version'))
  return among('npm_versions').unionAll(among('npm_taken_versions'))
})

/** Whether a version is there, was deleted, or is gone: its number is taken in each case. */
export const isTaken = async (q: Queries, { repository, name }: Named, version: string): Promise<boolean> =>
  (await taken(q, { repository, name, version })).length > 0

export const insertVersion = prepareQuery((q, p: Parameters<NpmVersionsTable>) =>
  q.insertInto('npm_versions').values({
    id: p('id'),
    package_id: p('package_id'),
    repository: p('repository'),
    name: p('name'),
    version: p('version'),
    number: p('number'),
    piece: p('piece'),
    sha256: p('sha256'),
    size: p('size'),
    sha1: p('sha1'),
    sha512: p('sha512'),
    files: p('files'),
    unpacked_size: p('unpacked_size'),
    manifest: p('manifest'),
    readme: p('readme'),
    attestations: p('attestations'),
    deprecated: p('deprecated'),
    published_at: p('published_at'),
    actor: p('actor'),
    deleted_at: p('deleted_at'),
  }),
)

const last = prepareQuery((q, p: Parameters<{ packageId: string }>) =>
  q
    .selectFrom('npm_pieces')
    .select(['number', sql<number>`length(versions)`.as('characters')])
    .where('package_id', '=', p('packageId'))
    .orderBy('number', 'desc')
    .limit(1),
)

/** The last piece of a package, and how much is in it. */
export const lastPiece = async (tx: Transaction, packageId: string) => (await last(tx, { packageId }))[0]

type Texts = Pick<NpmPiecesTable, 'versions' | 'abbreviated' | 'times'>

export const insertPiece = prepareQuery((q, p: Parameters<NpmPiecesTable>) =>
  q.insertInto('npm_pieces').values({
    package_id: p('package_id'),
    number: p('number'),
    versions: p('versions'),
    abbreviated: p('abbreviated'),
    times: p('times'),
  }),
)

/** Adds members behind those of a piece. */
export const appendToPiece = async (
  tx: Transaction,
  packageId: string,
  number: number,
  texts: Texts,
): Promise<void> => {
  const behind = (column: keyof Texts) =>
    sql<string>`${sql.ref(column)} || case when ${sql.ref(column)} = '' then '' else ',' end || cast(${texts[column]} as text)`
  await tx
    .updateTable('npm_pieces')
    .set({ versions: behind('versions'), abbreviated: behind('abbreviated'), times: behind('times') })
    .where('package_id', '=', packageId)
    .where('number', '=', number)
    .execute()
}

export const setPiece = async (tx: Transaction, packageId: string, number: number, texts: Texts): Promise<void> => {
  await tx
    .updateTable('npm_pieces')
    .set(texts)
    .where('package_id', '=', packageId)
    .where('number', '=', number)
    .execute()
}

const shown = prepareQuery((q, p: Parameters<{ packageId: string }>) =>
  q
    .selectFrom('npm_pieces')
    .select(sql<number | string>`coalesce(sum(octet_length(versions)), 0)`.as('bytes'))
    .where('package_id', '=', p('packageId')),
)

/** How much the full document of a package has of its versions. The engines know it without reading them. */
export const shownBytes = async (tx: Transaction, packageId: string): Promise<number> =>
  Number((await shown(tx, { packageId }))[0]?.bytes ?? 0)

/** Versions that a piece shows, in their order. */
export const versionsOfPiece = (tx: Transaction, packageId: string, piece: number) =>
  tx
    .selectFrom('npm_versions')
    .select([
      'name',
      'version',
      'manifest',
      'sha1',
      'sha512',
      'files',
      'unpacked_size',
      'attestations',
      'deprecated',
      'published_at',
    ])
    .where('package_id', '=', packageId)
    .where('piece', '=', piece)
    .orderBy('number')
    .execute()

const atTag = prepareQuery((q, p: Parameters<{ packageId: string; tag: string }>) =>
  q
    .selectFrom('npm_tags')
    .innerJoin('npm_versions', 'npm_versions.id', 'npm_tags.version_id')
    .select(['npm_versions.version', 'manifest', 'readme', 'published_at'])
    .where('npm_tags.package_id', '=', p('packageId'))
    .where('tag', '=', p('tag')),
)

/** What is told of a package by the version that its tag is at. */
export const versionAtTag = async (tx: Transaction, packageId: string, tag: string) =>
  (await atTag(tx, { packageId, tag }))[0]

export const putTag = prepareQuery((q, p: Parameters<NpmTagsTable>) => {
  const at = { version_id: p('version_id'), moved_at: p('moved_at'), actor: p('actor') }
  return q
    .insertInto('npm_tags')
    .values({ package_id: p('package_id'), tag: p('tag'), ...at })
    .onConflict((conflict) => conflict.columns(['package_id', 'tag']).doUpdateSet(at))
})

export const deleteTags = async (tx: Transaction, packageId: string, tags: readonly string[]): Promise<void> => {
  await tx.deleteFrom('npm_tags').where('package_id', '=', packageId).where('tag', 'in', tags).execute()
}

/** What is said of the versions of a package that are there. */
export const deprecationsOf = (tx: Transaction, packageId: string) =>
  tx
    .selectFrom('npm_versions')
    .select(['id', 'version', 'piece', 'deprecated'])
    .where('package_id', '=', packageId)
    .where('piece', 'is not', null)
    .execute()

export const setDeprecated = async (tx: Transaction, id: string, deprecated: string | null): Promise<void> => {
  await tx.updateTable('npm_versions').set({ deprecated }).where('id', '=', id).execute()
}

/** Marks versions as deleted: documents show them no more. */
export const markVersionsDeleted = async (tx: Transaction, ids: readonly string[], now: string): Promise<void> => {
  await tx.updateTable('npm_versions').set({ deleted_at: now, piece: null }).where('id', 'in', ids).execute()
}

export const markVersionRestored = async (tx: Transaction, id: string, piece: number): Promise<void> => {
  await tx.updateTable('npm_versions').set({ deleted_at: null, piece }).where('id', '=', id).execute()
}

export const removePiece = async (tx: Transaction, packageId: string, number: number): Promise<void> => {
  await tx.deleteFrom('npm_pieces').where('package_id', '=', packageId).where('number', '=', number).execute()
}
