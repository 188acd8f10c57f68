import type { Queries, Transaction } from '../../../database/database.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import type { PromotionsTable } from '../../../database/tables/promotions.ts'

export const insertCopy = async (tx: Transaction, row: ArtifactsTable): Promise<void> => {
  await tx.insertInto('artifacts').values(row).execute()
}

/** The copy in a repository that a file was promoted to last, of those that are published there. */
export const lastPublishedCopy = (
  q: Queries,
  sourceId: string,
  target: string,
  modes: readonly PromotionsTable['mode'][],
): Promise<PromotionsTable | undefined> =>
  q
    .selectFrom('promotions')
    .innerJoin('artifacts', (join) =>
      join.onRef('artifacts.id', '=', 'promotions.copy_id').onRef('artifacts.repository', '=', 'promotions.target'),
    )
    .selectAll('promotions')
    .where('promotions.source_id', '=', sourceId)
    .where('promotions.target', '=', target)
    .where('promotions.mode', 'in', modes)
    .orderBy('promotions.promoted_at', 'desc')
    .orderBy('promotions.copy_id', 'desc')
    .limit(1)
    .executeTakeFirst()

export const findPromotion = (
  q: Queries,
  sourceId: string,
  target: string,
  copyId: string,
): Promise<PromotionsTable | undefined> =>
  q
    .selectFrom('promotions')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('target', '=', target)
    .where('copy_id', '=', copyId)
    .executeTakeFirst()

/** Records a promotion. What is known of the two already becomes what is told now. */
export const putPromotion = async (tx: Transaction, row: PromotionsTable): Promise<void> => {
  const { source_id: _, target: __, copy_id: ___, ...told } = row
  await tx
    .insertInto('promotions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['source_id', 'target', 'copy_id']).doUpdateSet(told))
    .execute()
}
