import type { Transaction } from '../../../database/database.ts'

/**
 * A deleted npm version cannot be brought back any more: its number stays taken, and its package goes with the last of
 * its versions. Undefined where there is none, such as of a publish that died.
 */
export const forgetNpmVersion = async (
  tx: Transaction,
  id: string,
  now: string,
): Promise<{ readonly repository: string; readonly sha256: string } | undefined> => {
  await tx.deleteFrom('npm_promotions').where('copy_id', '=', id).execute()
  const gone = await tx
    .deleteFrom('npm_versions')
    .where('id', '=', id)
    .returning(['package_id', 'repository', 'name', 'version', 'sha256'])
    .executeTakeFirst()
  if (gone === undefined) return undefined
  const { package_id, repository, name, version, sha256 } = gone
  await tx
    .insertInto('npm_taken_versions')
    .values({ repository, name, version, released_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const other = await tx
    .selectFrom('npm_versions')
    .select('id')
    .where('package_id', '=', package_id)
    .limit(1)
    .executeTakeFirst()
  if (other === undefined) {
    for (const table of ['npm_documents', 'npm_pieces'] as const)
      await tx.deleteFrom(table).where('package_id', '=', package_id).execute()
    await tx.deleteFrom('npm_packages').where('id', '=', package_id).execute()
  }
  return { repository, sha256 }
}
