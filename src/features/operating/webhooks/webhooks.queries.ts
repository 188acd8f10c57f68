import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { WebhooksTable } from '../../../database/tables/webhooks.ts'

export const lockWebhook = (tx: Transaction, id: string): Promise<WebhooksTable | undefined> =>
  tx.selectFrom('webhooks').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/** False where it is known. */
export const insertWebhook = async (tx: Transaction, row: WebhooksTable): Promise<boolean> => {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('webhooks')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

export const findWebhook = (q: Queries, id: string): Promise<WebhooksTable | undefined> =>
  q.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()

export const updateWebhook = async (tx: Transaction, id: string, to: Partial<WebhooksTable>): Promise<void> => {
  await tx.updateTable('webhooks').set(to).where('id', '=', id).execute()
}

export const deleteWebhook = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('webhooks').where('id', '=', id).execute()
}

/** When each was last named. */
export const namedWebhooks = (q: Queries, limit: number): Promise<Pick<WebhooksTable, 'id' | 'named_at'>[]> =>
  q.selectFrom('webhooks').select(['id', 'named_at']).orderBy('id').limit(limit).execute()

/** Each with how far it has come, and from where to where its journal goes; no journal where there is no repository. */
export const standingWebhooks = (q: Queries, limit: number) =>
  q
    .selectFrom('webhooks')
    .leftJoin('repositories', 'repositories.id', 'webhooks.repository')
    .leftJoin('journal_cursors', (join) =>
      join
        .onRef('journal_cursors.repository', '=', 'webhooks.repository')
        .on('journal_cursors.name', '=', sql<string>`'webhook:' || webhooks.id`),
    )
    .selectAll('webhooks')
    .select(['deleted_at', 'journal_base as base', 'journal_head as head', 'journal_cursors.sequence as position'])
    .select((eb) =>
      eb
        .selectFrom('journal')
        .select('sequence')
        .whereRef('journal.repository', '=', 'webhooks.repository')
        .orderBy('sequence')
        .limit(1)
        .as('first'),
    )
    .orderBy('webhooks.id')
    .limit(limit)
    .execute()
