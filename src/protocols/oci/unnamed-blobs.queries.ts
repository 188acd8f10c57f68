import type { Transaction } from '../../database/database.ts'

/** When somebody last counted on a blob that came below a name and that no manifest names; null where there is none. */
export const newestUnnamed = async (tx: Transaction, repository: string, name: string): Promise<string | null> =>
  (
    await tx
      .selectFrom('oci_blobs')
      .select('unused_since')
      .where('repository', '=', repository)
      .where('sent_below', '=', name)
      .where('unused_since', 'is not', null)
      .orderBy('unused_since', 'desc')
      .limit(1)
      .executeTakeFirst()
  )?.unused_since ?? null

/** Until when uploads below a name would live, and until when somebody has the turn of one. */
export const openUploadsBelow = (
  tx: Transaction,
  repository: string,
  name: string,
): Promise<{ expires_at: string | null; turn_until: string | null }> =>
  tx
    .selectFrom('uploads')
    .select((eb) => [eb.fn.max('expires_at').as('expires_at'), eb.fn.max('turn_until').as('turn_until')])
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('kind', '=', 'appended')
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow()
