import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { LinkKeysTable } from '../../../database/tables/link-keys.ts'

const keyById = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.selectFrom('link_keys').selectAll().where('id', '=', p('id')),
)

export const findLinkKey = async (q: Queries, id: string): Promise<LinkKeysTable | undefined> =>
  (await keyById(q, { id }))[0]

export const insertLinkKey = async (tx: Transaction, row: LinkKeysTable): Promise<void> => {
  await tx.insertInto('link_keys').values(row).execute()
}

export const deleteLinkKeysEndedBefore = async (tx: Transaction, before: string, limit: number): Promise<number> => {
  const ended = tx.selectFrom('link_keys').select('id').where('ends_at', '<', before).limit(limit)
  const result = await tx.deleteFrom('link_keys').where('id', 'in', ended).executeTakeFirst()
  return Number(result.numDeletedRows)
}
