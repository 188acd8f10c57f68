import { sql } from 'kysely'
import type { Queries, Transaction } from '../../database/database.ts'

/** How far journals go, and where the gap begins that one ends with, if it does. */
export const journalEnds = (tx: Transaction) =>
  tx
    .selectFrom('repositories')
    .leftJoin('journal_gaps', (join) =>
      join
        .onRef('journal_gaps.repository', '=', 'repositories.id')
        .onRef('journal_gaps.through', '=', 'repositories.journal_head'),
    )
    .select(['repositories.id', 'journal_head as head', 'journal_gaps.beyond as gapBeyond'])
    .execute()

/** One that begins where another one does takes its place. */
export const putGap = async (
  tx: Transaction,
  gap: { readonly repository: string; readonly beyond: number; readonly through: number },
): Promise<void> => {
  await tx
    .insertInto('journal_gaps')
    .values(gap)
    .onConflict((conflict) => conflict.columns(['repository', 'beyond']).doUpdateSet({ through: gap.through }))
    .execute()
  await tx.updateTable('repositories').set({ journal_head: gap.through }).where('id', '=', gap.repository).execute()
}

/** How many of the sequences behind `after`, up to `to`, belong to gaps that lie between them. */
export const passedOverBetween = async (
  q: Queries,
  repository: string,
  { after, to }: { readonly after: number; readonly to: number },
): Promise<number> => {
  const { passed } = await q
    .selectFrom('journal_gaps')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>(eb('through', '-', eb.ref('beyond'))), sql.lit(0)).as('passed'))
    .where('repository', '=', repository)
    .where('beyond', '>=', after)
    .where('through', '<=', to)
    .executeTakeFirstOrThrow()
  return Number(passed)
}
