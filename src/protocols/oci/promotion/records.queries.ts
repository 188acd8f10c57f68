import type { Transaction } from '../../../database/database.ts'
import type { OciPromotionsTable } from '../../../database/tables/images.ts'
import type { ImageName } from '../tags.ts'
import type { Digest } from '../vocabulary.ts'

/** What is recorded of a copy and where it was promoted from. */
export const findPromotion = (
  tx: Transaction,
  copyId: string,
  from: ImageName,
): Promise<OciPromotionsTable | undefined> =>
  tx
    .selectFrom('oci_promotions')
    .selectAll()
    .where('copy_id', '=', copyId)
    .where('source_repository', '=', from.repository)
    .where('source_name', '=', from.name)
    .executeTakeFirst()

/** Records a promotion. What is known of the two already becomes what is told now. */
export const putPromotion = async (tx: Transaction, row: OciPromotionsTable): Promise<void> => {
  const { moved_tag, mode, promoted_at } = row
  await tx
    .insertInto('oci_promotions')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['copy_id', 'source_repository', 'source_name']).doUpdateSet({ moved_tag, mode, promoted_at }),
    )
    .execute()
}

/** The copy that an image was moved to last by a tag, or by a digest, of those that are there. */
export const lastMoved = (
  tx: Transaction,
  from: ImageName,
  by: { tag: string } | { digest: Digest },
  to: ImageName,
) => {
  const moved = tx
    .selectFrom('oci_promotions as p')
    .innerJoin('oci_manifests as m', 'm.id', 'p.copy_id')
    .select(['m.id', 'm.digest', 'm.digest512'])
    .where('p.source_repository', '=', from.repository)
    .where('p.source_name', '=', from.name)
    .where('p.mode', '=', 'move')
    .where('m.repository', '=', to.repository)
    .where('m.name', '=', to.name)
    .orderBy('p.promoted_at', 'desc')
    .limit(1)
  if ('tag' in by) return moved.where('p.moved_tag', '=', by.tag).executeTakeFirst()
  const column = by.digest.algorithm === 'sha256' ? 'm.digest' : 'm.digest512'
  return moved.where(column, '=', by.digest.text).executeTakeFirst()
}
