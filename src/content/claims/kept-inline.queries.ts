import type { Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'

const storedInline = prepareQuery(
  (q, p: Parameters<{ digest: string; generation: string; size: number; now: string }>) =>
    q
      .insertInto('blobs')
      .values({
        sha256: p('digest'),
        size: p('size'),
        state: 'stored',
        stored_at: p('now'),
        generation: p('generation'),
        inline: 1,
      })
      .onConflict((conflict) => conflict.column('sha256').doNothing())
      .returning('sha256'),
)

/** A row for a blob whose bytes come with the transaction. False where the blob has a row already. */
export const insertStored = async (
  tx: Transaction,
  blob: { digest: string; generation: string; size: number; now: string },
): Promise<boolean> => (await storedInline(tx, blob)).length > 0

/** The row of a blob says that its bytes are there, beside it. */
export const markInline = prepareQuery(
  (q, p: Parameters<{ digest: string; generation: string; size: number; now: string }>) =>
    q
      .updateTable('blobs')
      .set((eb) => ({
        state: 'stored',
        inline: 1,
        size: p('size'),
        stored_at: eb.fn.coalesce('stored_at', p('now')),
      }))
      .where('sha256', '=', p('digest'))
      .where('generation', '=', p('generation')),
)

/** Says where stored bytes are, under the lock of their blob. */
export const setInline = prepareQuery((q, p: Parameters<{ digest: string; inline: 0 | 1 }>) =>
  q
    .updateTable('blobs')
    .set({ inline: p('inline') })
    .where('sha256', '=', p('digest')),
)

/** The same where they have another name from now on. */
export const setInlineAs = prepareQuery((q, p: Parameters<{ digest: string; generation: string }>) =>
  q
    .updateTable('blobs')
    .set({ inline: 1, generation: p('generation') })
    .where('sha256', '=', p('digest')),
)

const pendingOfDigest = prepareQuery((q, p: Parameters<{ digest: string }>) =>
  q.selectFrom('claims').select('id').where('sha256', '=', p('digest')).where('state', '=', 'pending').limit(1),
)

/** Whether somebody announced these bytes, and was told what to call them. */
export const isAnnounced = async (tx: Transaction, digest: string): Promise<boolean> =>
  (await pendingOfDigest(tx, { digest })).length > 0
