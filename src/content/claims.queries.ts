import type { Transaction } from '../database/database.ts'
import type { BlobsTable } from '../database/tables/blobs.ts'
import type { ClaimsTable } from '../database/tables/claims.ts'
import type { Sha256 } from '../kernel/digest.ts'

export interface ByteDeltas {
  readonly published: number
  readonly pending: number
  readonly retired: number
}

/** Moves the counters of a repository; takes its row lock. False when there is no such repository. */
export const moveRepositoryBytes = async (tx: Transaction, repository: string, by: ByteDeltas): Promise<boolean> => {
  const row = await tx
    .updateTable('repositories')
    .set((eb) => ({
      published_bytes: eb('published_bytes', '+', by.published),
      pending_bytes: eb('pending_bytes', '+', by.pending),
      retired_bytes: eb('retired_bytes', '+', by.retired),
    }))
    .where('id', '=', repository)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export const insertClaim = async (tx: Transaction, claim: ClaimsTable): Promise<void> => {
  await tx.insertInto('claims').values(claim).execute()
}

export const lockClaim = (tx: Transaction, id: string): Promise<ClaimsTable | undefined> =>
  tx.selectFrom('claims').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

export const updateClaim = async (
  tx: Transaction,
  id: string,
  to: Partial<Pick<ClaimsTable, 'sha256' | 'size' | 'state' | 'retired_at'>>,
): Promise<void> => {
  await tx.updateTable('claims').set(to).where('id', '=', id).execute()
}

export const deleteClaim = async (tx: Transaction, id: string): Promise<void> => {
  await tx.deleteFrom('claims').where('id', '=', id).execute()
}

/** Makes sure that the blob has a row, locks it and returns its state. A new row is `expected`. */
export const expectBlob = async (tx: Transaction, digest: Sha256, size: number): Promise<BlobsTable['state']> => {
  await tx
    .insertInto('blobs')
    .values({ sha256: digest, size, state: 'expected', stored_at: null })
    .onConflict((conflict) => conflict.column('sha256').doNothing())
    .execute()
  const row = await tx
    .selectFrom('blobs')
    .select('state')
    .where('sha256', '=', digest)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return row.state
}

/** The bytes are there. Their size is known only now: what was expected is what somebody declared. */
export const markStored = async (tx: Transaction, digest: Sha256, size: number, now: string): Promise<void> => {
  await tx
    .updateTable('blobs')
    .set({ state: 'stored', size, stored_at: now })
    .where('sha256', '=', digest)
    .where('state', '=', 'expected')
    .execute()
}

export const insertCandidate = async (tx: Transaction, digest: string, now: string): Promise<void> => {
  await tx
    .insertInto('reclaim_candidates')
    .values({ sha256: digest, since: now })
    .onConflict((conflict) => conflict.column('sha256').doNothing())
    .execute()
}
