import type { Queries, Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import type { JournalCursorsTable } from '../../database/tables/journal-cursors.ts'

/**
 * The journal's head, and after which line it belongs to this repository, under the lock that appending takes. Nothing
 * where there is no repository.
 */
export const lockEnds = async (
  tx: Transaction,
  repository: string,
): Promise<{ readonly head: number; readonly base: number } | undefined> => {
  if (!(await lockRepository(tx, repository))) return undefined
  return tx
    .selectFrom('repositories')
    .select(['journal_head as head', 'journal_base as base'])
    .where('id', '=', repository)
    .executeTakeFirstOrThrow()
}

export const findCursor = (q: Queries, repository: string, name: string): Promise<JournalCursorsTable | undefined> =>
  q
    .selectFrom('journal_cursors')
    .selectAll()
    .where('repository', '=', repository)
    .where('name', '=', name)
    .executeTakeFirst()

export const insertCursor = async (tx: Transaction, row: JournalCursorsTable): Promise<void> => {
  await tx.insertInto('journal_cursors').values(row).execute()
}

/** Cursors of one repository, each only forward. Answers how many moved. */
export const advanceCursors = async (
  tx: Transaction,
  repository: string,
  [first, ...others]: readonly Pick<JournalCursorsTable, 'name' | 'sequence'>[],
  now: string,
): Promise<number> => {
  if (first === undefined) return 0
  const { numUpdatedRows } = await tx
    .updateTable('journal_cursors')
    .set((eb) => {
      const begun = eb.case('name').when(first.name).then(first.sequence)
      const all = others.reduce((soFar, { name, sequence }) => soFar.when(name).then(sequence), begun)
      return { moved_at: now, sequence: all.else(eb.ref('sequence')).end() }
    })
    .where('repository', '=', repository)
    .where((eb) =>
      eb.or(
        [first, ...others].map(({ name, sequence }) => eb.and([eb('name', '=', name), eb('sequence', '<', sequence)])),
      ),
    )
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

export const deleteCursor = async (tx: Transaction, repository: string, name: string): Promise<void> => {
  await tx.deleteFrom('journal_cursors').where('repository', '=', repository).where('name', '=', name).execute()
}

/** How far the slowest consumer of a journal has come; null where there is none. */
export const lowestCursor = async (q: Queries, repository: string): Promise<number | null> =>
  (
    await q
      .selectFrom('journal_cursors')
      .select((eb) => eb.fn.min<number | null>('sequence').as('sequence'))
      .where('repository', '=', repository)
      .executeTakeFirst()
  )?.sequence ?? null
