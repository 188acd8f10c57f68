import type { Transaction } from '../../../database/database.ts'
import type { NpmPromotionsTable } from '../../../database/tables/npm.ts'

/** What is recorded of a copy and the repository that it was promoted from. */
export const findPromotion = (
  tx: Transaction,
  copyId: string,
  sourceRepository: string,
): Promise<NpmPromotionsTable | undefined> =>
  tx
    .selectFrom('npm_promotions')
    .selectAll()
    .where('copy_id', '=', copyId)
    .where('source_repository', '=', sourceRepository)
    .executeTakeFirst()

/** Records a promotion. What is known of the two already becomes what is told now. */
export const putPromotion = async (tx: Transaction, row: NpmPromotionsTable): Promise<void> => {
  const { mode, promoted_at } = row
  await tx
    .insertInto('npm_promotions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['copy_id', 'source_repository']).doUpdateSet({ mode, promoted_at }))
    .execute()
}
