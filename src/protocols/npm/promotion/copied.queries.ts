import type { Transaction } from '../../../database/database.ts'

/** The readme of a version, which nothing else reads with it: it may be long. */
export const findReadme = async (tx: Transaction, id: string): Promise<string | null> =>
  (await tx.selectFrom('npm_versions').select('readme').where('id', '=', id).executeTakeFirst())?.readme ?? null
