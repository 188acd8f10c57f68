import type { Queries } from '../../database/database.ts'

/** What a document consists of beside its pieces. */
export const frameOf = (q: Queries, packageId: string) =>
  q
    .selectFrom('npm_documents')
    .innerJoin('npm_packages', 'npm_packages.id', 'npm_documents.package_id')
    .select(['revision', 'head', 'times', 'tail', 'abbreviated_head'])
    .where('package_id', '=', packageId)
    .executeTakeFirst()

/** Pieces of one column behind a number, in their order. */
export const piecesOf = (
  q: Queries,
  packageId: string,
  column: 'versions' | 'abbreviated' | 'times',
  after: number,
  limit: number,
) =>
  q
    .selectFrom('npm_pieces')
    .select(['number', `${column} as text`])
    .where('package_id', '=', packageId)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute()

/** How often the package was changed. */
export const revisionNow = async (q: Queries, packageId: string): Promise<number | undefined> =>
  (await q.selectFrom('npm_packages').select('revision').where('id', '=', packageId).executeTakeFirst())?.revision
