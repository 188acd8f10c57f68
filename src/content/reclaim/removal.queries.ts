import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { RemovalNotesTable, RemovalsTable } from '../../database/tables/blobs.ts'

export type Removal = Pick<RemovalsTable, 'name' | 'size' | 'tries'>

/** What was to be told of a digest is told when this removal is done. */
export const moveNotes = async (tx: Transaction, digest: string, name: string): Promise<void> => {
  await tx
    .insertInto('removal_notes')
    .columns(['name', 'repository', 'artifact_id'])
    .expression((eb) =>
      eb
        .selectFrom('reclaim_notes')
        .select((of) => [of.val(name).as('name'), 'repository', 'artifact_id'])
        .where('sha256', '=', digest),
    )
    .execute()
}

/**
 * Removals whose time has come, the one that waits longest first. What is due later than any pause lasts was put off by
 * a clock that ran ahead, and is due.
 */
export const dueRemovals = async (q: Queries, now: string, beyond: string, limit: number): Promise<string[]> => {
  const due = (from: string | null, until: string | null) => {
    let query = q.selectFrom('removals').select('name').orderBy('due_at').orderBy('name').limit(limit)
    if (from !== null) query = query.where('due_at', '>', from)
    if (until !== null) query = query.where('due_at', '<=', until)
    return query.execute()
  }
  return [...(await due(null, now)), ...(await due(beyond, null))].slice(0, limit).map(({ name }) => name)
}

const lockByName = prepareQuery((q, p: Parameters<{ name: string }>) =>
  q.selectFrom('removals').select(['name', 'size', 'tries', 'due_at']).where('name', '=', p('name')).forUpdate(),
)

export const lockRemoval = async (
  tx: Transaction,
  name: string,
): Promise<Pick<RemovalsTable, 'name' | 'size' | 'tries' | 'due_at'> | undefined> => (await lockByName(tx, { name }))[0]

export const putOff = prepareQuery((q, p: Parameters<Pick<RemovalsTable, 'name' | 'tries' | 'due_at'>>) =>
  q
    .updateTable('removals')
    .set({ tries: p('tries'), due_at: p('due_at') })
    .where('name', '=', p('name')),
)

/** False where it was done before. */
export const deleteRemoval = async (tx: Transaction, name: string): Promise<boolean> => {
  const { numDeletedRows } = await tx.deleteFrom('removals').where('name', '=', name).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** What is to be told of these removals, in the order in which repositories are locked. */
export const notesOf = (tx: Transaction, names: readonly string[]): Promise<RemovalNotesTable[]> =>
  tx
    .selectFrom('removal_notes')
    .selectAll()
    .where('name', 'in', names)
    .orderBy('repository')
    .orderBy('name')
    .orderBy('artifact_id')
    .execute()

export const deleteNotes = async (tx: Transaction, names: readonly string[]): Promise<void> => {
  await tx.deleteFrom('removal_notes').where('name', 'in', names).execute()
}

/** How many removals there are, counted up to a bound. */
export const removalCount = async (q: Queries, bound: number): Promise<number> =>
  Number(
    (
      await q
        .selectFrom(q.selectFrom('removals').select('name').limit(bound).as('waiting'))
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )

/** Removals that failed at least so many times, the oldest first. */
export const stuckRemovals = (q: Queries, tries: number, limit: number) =>
  q
    .selectFrom('removals')
    .select(['name', 'begun_at', 'tries'])
    .where('tries', '>', tries)
    .orderBy('begun_at')
    .limit(limit)
    .execute()

/** When the removal that waits longest was begun. */
export const oldestRemoval = async (q: Queries): Promise<string | undefined> =>
  (await q.selectFrom('removals').select('begun_at').orderBy('begun_at').limit(1).executeTakeFirst())?.begun_at
