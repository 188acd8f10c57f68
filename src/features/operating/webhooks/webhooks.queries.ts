import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { WebhooksTable } from '../../../database/tables/webhooks.ts'

export const lockWebhook = (tx: Transaction, id: string): Promise<WebhooksTable | undefined> =>
  tx.selectFrom('webhooks').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/** In the order of their ids, so that nobody who takes several waits for somebody who waits for them. */
export const lockWebhooks = (tx: Transaction, ids: readonly string[]): Promise<WebhooksTable[]> =>
  tx.selectFrom('webhooks').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()

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

/** Events that were forgotten before they were sent. */
export const addLost = async (tx: Transaction, id: string, lost: number): Promise<void> => {
  await tx
    .updateTable('webhooks')
    .set((eb) => ({ lost: eb('lost', '+', lost) }))
    .where('id', '=', id)
    .execute()
}

export interface KeptWebhook {
  readonly id: string
  /** Null where it is as it was. */
  readonly lastSuccessAt: string | null
}

/** Leases of several, and when each was last taken. */
export const keepWebhooks = async (
  tx: Transaction,
  [first, ...others]: readonly KeptWebhook[],
  lease: Pick<WebhooksTable, 'leased_until' | 'named_at'>,
): Promise<void> => {
  if (first === undefined) return
  await tx
    .updateTable('webhooks')
    .set((eb) => {
      const begun = eb.case('id').when(first.id).then(first.lastSuccessAt)
      const all = others.reduce((soFar, { id, lastSuccessAt }) => soFar.when(id).then(lastSuccessAt), begun)
      return { ...lease, last_success_at: eb.fn.coalesce(all.end(), 'last_success_at') }
    })
    .where('id', 'in', [first.id, ...others.map(({ id }) => id)])
    .execute()
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
