import type { Selectable } from 'kysely'
import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { BlobsTable, RemovalsTable } from '../../database/tables/blobs.ts'
import type { ClaimsTable } from '../../database/tables/claims.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { newGeneration } from '../../ports/blob-name.ts'

export interface ByteDeltas {
  readonly published: number
  readonly pending: number
  readonly retired: number
}

const moveBytes = prepareQuery((q, p: Parameters<ByteDeltas & { repository: string }>) =>
  q
    .updateTable('repositories')
    .set((eb) => ({
      published_bytes: eb('published_bytes', '+', p('published')),
      pending_bytes: eb('pending_bytes', '+', p('pending')),
      retired_bytes: eb('retired_bytes', '+', p('retired')),
    }))
    .where('id', '=', p('repository'))
    .where('deleted_at', 'is', null)
    .returning(['published_bytes', 'pending_bytes', 'retired_bytes', 'quota_bytes']),
)

/**
 * Moves the counters of a repository and takes its row lock. What is reserved now, or undefined without a repository.
 */
export const moveRepositoryBytes = async (
  tx: Transaction,
  repository: string,
  by: ByteDeltas,
): Promise<{ reservedBytes: number; quotaBytes: number | null } | undefined> => {
  const [row] = await moveBytes(tx, { repository, ...by })
  if (row === undefined) return undefined
  return { reservedBytes: row.published_bytes + row.pending_bytes + row.retired_bytes, quotaBytes: row.quota_bytes }
}

/** Sets the counters of a repository to the sums of its claims. */
export const setRepositoryBytes = async (tx: Transaction, repository: string): Promise<void> => {
  const sums = await tx
    .selectFrom('claims')
    .select((eb) => ['state', eb.fn.sum<number | string>(eb('size', '+', eb.ref('beside'))).as('bytes')])
    .where('repository', '=', repository)
    .groupBy('state')
    .execute()
  const of = (state: ClaimsTable['state']): number => Number(sums.find((sum) => sum.state === state)?.bytes ?? 0)
  await tx
    .updateTable('repositories')
    .set({ published_bytes: of('live'), pending_bytes: of('pending'), retired_bytes: of('retired') })
    .where('id', '=', repository)
    .execute()
}

/** What all claims reserve together. */
export const claimedBytes = async (q: Queries): Promise<number> => {
  const { bytes } = await q
    .selectFrom('claims')
    .select((eb) => eb.fn.sum<number | string | null>(eb('size', '+', eb.ref('beside'))).as('bytes'))
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}

/** A claim when it is made: what is beside the bytes is said later. */
export type NewClaim = Omit<ClaimsTable, 'beside'>

export const insertClaim = prepareQuery((q, p: Parameters<NewClaim>) =>
  q.insertInto('claims').values({
    id: p('id'),
    repository: p('repository'),
    holder: p('holder'),
    sha256: p('sha256'),
    size: p('size'),
    beside: 0,
    state: p('state'),
    retired_at: p('retired_at'),
  }),
)

/** Several at once. */
export const insertClaims = async (tx: Transaction, rows: readonly NewClaim[]): Promise<void> => {
  await tx
    .insertInto('claims')
    .values(rows.map((row) => ({ ...row, beside: 0 })))
    .execute()
}

const claimForUpdate = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.selectFrom('claims').selectAll().where('id', '=', p('id')).forUpdate(),
)

export const lockClaim = async (tx: Transaction, id: string): Promise<ClaimsTable | undefined> =>
  (await claimForUpdate(tx, { id }))[0]

/** Writes what may change of a claim. */
export const updateClaim = prepareQuery(
  (q, p: Parameters<Pick<ClaimsTable, 'id' | 'sha256' | 'size' | 'state' | 'retired_at'>>) =>
    q
      .updateTable('claims')
      .set({ sha256: p('sha256'), size: p('size'), state: p('state'), retired_at: p('retired_at') })
      .where('id', '=', p('id')),
)

export const setBeside = prepareQuery((q, p: Parameters<Pick<ClaimsTable, 'id' | 'beside'>>) =>
  q
    .updateTable('claims')
    .set({ beside: p('beside') })
    .where('id', '=', p('id')),
)

export const deleteClaim = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.deleteFrom('claims').where('id', '=', p('id')),
)

const insertExpected = prepareQuery((q, p: Parameters<{ digest: string; size: number; generation: string }>) =>
  q
    .insertInto('blobs')
    .values({ sha256: p('digest'), size: p('size'), state: 'expected', stored_at: null, generation: p('generation') })
    .onConflict((conflict) => conflict.column('sha256').doNothing()),
)

const blobForUpdate = prepareQuery((q, p: Parameters<{ digest: string }>) =>
  q.selectFrom('blobs').select(['state', 'size', 'generation', 'inline']).where('sha256', '=', p('digest')).forUpdate(),
)

type BlobState = Pick<Selectable<BlobsTable>, 'state' | 'size' | 'generation' | 'inline'>

/** Locks the row of a blob, if there is one. */
export const lockBlob = async (tx: Transaction, digest: string): Promise<BlobState | undefined> =>
  (await blobForUpdate(tx, { digest }))[0]

/** Makes sure that the blob has a row, locks it and returns it. A new row is `expected`, and of a new generation. */
export const expectBlob = async (tx: Transaction, digest: Sha256, size: number): Promise<BlobState> => {
  for (;;) {
    await insertExpected(tx, { digest, size, generation: newGeneration() })
    const row = await lockBlob(tx, digest)
    // On PostgreSQL the row that was in the way of ours may go while we wait for its lock: reclaim has taken it.
    if (row !== undefined) return row
  }
}

const claimedBlob = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q
    .selectFrom('claims')
    .innerJoin('blobs', 'blobs.sha256', 'claims.sha256')
    .select(['blobs.sha256', 'blobs.generation'])
    .where('claims.id', '=', p('id'))
    .where('claims.state', '=', 'pending'),
)

/** The blob that a pending claim announced. */
export const findClaimedBlob = async (
  q: Queries,
  id: string,
): Promise<Pick<BlobsTable, 'sha256' | 'generation'> | undefined> => (await claimedBlob(q, { id }))[0]

const pendingClaim = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q
    .selectFrom('claims')
    .leftJoin('blobs', 'blobs.sha256', 'claims.sha256')
    .select(['claims.size', 'blobs.sha256', 'blobs.generation'])
    .where('claims.id', '=', p('id'))
    .where('claims.state', '=', 'pending'),
)

/** What a pending claim reserves, and the blob that it announced, if it did. */
export const findPendingClaim = async (
  q: Queries,
  id: string,
): Promise<{ size: number; sha256: string | null; generation: string | null } | undefined> =>
  (await pendingClaim(q, { id }))[0]

const storedNow = prepareQuery((q, p: Parameters<{ digest: string; generation: string; size: number; now: string }>) =>
  q
    .updateTable('blobs')
    .set((eb) => ({ state: 'stored', size: p('size'), stored_at: eb.fn.coalesce('stored_at', p('now')) }))
    .where('sha256', '=', p('digest'))
    .where('generation', '=', p('generation'))
    .where((eb) => eb.or([eb('state', '!=', 'stored'), eb('size', '=', p('size'))]))
    .returning('sha256'),
)

/**
 * The bytes are there, under the name that this generation gives them. Their size is known only now: what was expected
 * is what somebody declared. Once they are stored it never changes. False where the row is of another generation, or
 * gone, or where other bytes than so many are stored.
 */
export const markStored = async (
  tx: Transaction,
  blob: { digest: string; generation: string; size: number; now: string },
): Promise<boolean> => (await storedNow(tx, blob)).length > 0

const insertIntoQueue = prepareQuery((q, p: Parameters<{ digest: string; now: string }>) =>
  q
    .insertInto('reclaim_candidates')
    .values({ sha256: p('digest'), since: p('now') })
    .onConflict((conflict) => conflict.column('sha256').doNothing()),
)

/**
 * Queues a digest. Under the blob's lock, which reclaim takes for its look: else it could still see the claim that just
 * went, and drop the very entry that we find there already.
 */
export const insertCandidate = async (tx: Transaction, digest: string, now: string): Promise<void> => {
  await lockBlob(tx, digest)
  await insertIntoQueue(tx, { digest, now })
}

/** Bytes of this name are to be removed. Harmless where it is there already. */
export const insertRemoval = async (tx: Transaction, row: RemovalsTable): Promise<void> => {
  await tx
    .insertInto('removals')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}

/** How many of these digests rows say of that their bytes are stored. */
export const storedAmong = async (q: Queries, digests: readonly Sha256[]): Promise<number> => {
  const rows = await q
    .selectFrom('blobs')
    .select('sha256')
    .where('sha256', 'in', digests)
    .where('state', '=', 'stored')
    .execute()
  return rows.length
}

/** Whether a row says of the bytes of this generation that they are stored. */
export const isStoredAs = async (q: Queries, digest: string, generation: string): Promise<boolean> =>
  (await findBlob(q, digest, generation))?.state === 'stored'

const findBlob = (q: Queries, digest: string, generation: string) =>
  q
    .selectFrom('blobs')
    .select(['size', 'state'])
    .where('sha256', '=', digest)
    .where('generation', '=', generation)
    .executeTakeFirst()
