import { sql } from 'kysely'
import type { Queries, Transaction } from '../../database/database.ts'
import type {
  NpmDocumentsTable,
  NpmPackagesTable,
  NpmPiecesTable,
  NpmVersionsTable,
} from '../../database/tables/npm.ts'

type Named = { readonly repository: string; readonly name: string }

/** A package, also one without versions. */
export const findPackage = (q: Queries, { repository, name }: Named): Promise<NpmPackagesTable | undefined> =>
  q
    .selectFrom('npm_packages')
    .selectAll()
    .where('repository', '=', repository)
    .where('name', '=', name)
    .executeTakeFirst()

export const packageById = (tx: Transaction, id: string): Promise<NpmPackagesTable> =>
  tx.selectFrom('npm_packages').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export const insertPackage = async (tx: Transaction, row: NpmPackagesTable): Promise<void> => {
  await tx.insertInto('npm_packages').values(row).execute()
}

export const updatePackage = async (
  tx: Transaction,
  { id, ...row }: Partial<NpmPackagesTable> & { readonly id: string },
): Promise<void> => {
  await tx.updateTable('npm_packages').set(row).where('id', '=', id).execute()
}

export const putDocuments = async (tx: Transaction, row: NpmDocumentsTable): Promise<void> => {
  await tx
    .insertInto('npm_documents')
    .values(row)
    .onConflict((conflict) => conflict.column('package_id').doUpdateSet(row))
    .execute()
}

/** Whether a version is there, was deleted, or is gone: its number is taken in each case. */
export const isTaken = async (q: Queries, { repository, name }: Named, version: string): Promise<boolean> => {
  for (const table of ['npm_versions', 'npm_taken_versions'] as const) {
    const found = await q
      .selectFrom(table)
      .select('version')
      .where('repository', '=', repository)
      .where('name', '=', name)
      .where('version', '=', version)
      .executeTakeFirst()
    if (found !== undefined) return true
  }
  return false
}

export const insertVersion = async (tx: Transaction, row: NpmVersionsTable): Promise<void> => {
  await tx.insertInto('npm_versions').values(row).execute()
}

/** The last piece of a package, and how much is in it. */
export const lastPiece = (tx: Transaction, packageId: string) =>
  tx
    .selectFrom('npm_pieces')
    .select(['number', sql<number>`length(versions)`.as('characters')])
    .where('package_id', '=', packageId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()

type Texts = Pick<NpmPiecesTable, 'versions' | 'abbreviated' | 'times'>

export const insertPiece = async (tx: Transaction, row: NpmPiecesTable): Promise<void> => {
  await tx.insertInto('npm_pieces').values(row).execute()
}

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

/** How much the full document of a package has of its versions. The engines know it without reading them. */
export const shownBytes = async (tx: Transaction, packageId: string): Promise<number> => {
  const { bytes } = await tx
    .selectFrom('npm_pieces')
    .select(sql<number | string>`coalesce(sum(octet_length(versions)), 0)`.as('bytes'))
    .where('package_id', '=', packageId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

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

/** What is told of a package by the version that its tag is at. */
export const versionAtTag = (tx: Transaction, packageId: string, tag: string) =>
  tx
    .selectFrom('npm_tags')
    .innerJoin('npm_versions', 'npm_versions.id', 'npm_tags.version_id')
    .select(['npm_versions.version', 'manifest', 'readme', 'published_at'])
    .where('npm_tags.package_id', '=', packageId)
    .where('tag', '=', tag)
    .executeTakeFirst()

export const putTag = async (
  tx: Transaction,
  row: {
    readonly package_id: string
    readonly tag: string
    readonly version_id: string
    readonly moved_at: string
    readonly actor: string
  },
): Promise<void> => {
  const { version_id, moved_at, actor } = row
  await tx
    .insertInto('npm_tags')
    .values(row)
    .onConflict((conflict) => conflict.columns(['package_id', 'tag']).doUpdateSet({ version_id, moved_at, actor }))
    .execute()
}

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
