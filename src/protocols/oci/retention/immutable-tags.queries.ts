import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { OciImmutableTagsTable } from '../../../database/tables/images.ts'

const ofRepository = prepareQuery((q, p: Parameters<{ repository: string }>) =>
  q
    .selectFrom('oci_immutable_tags')
    .select(['repository', 'revision', 'patterns', 'saved_at', 'actor'])
    .where('repository', '=', p('repository')),
)

/** Which tags of a repository stay where they are, if that was ever said. */
export const findImmutableTags = async (q: Queries, repository: string): Promise<OciImmutableTagsTable | undefined> =>
  (await ofRepository(q, { repository }))[0]

export const writeImmutableTags = async (tx: Transaction, row: OciImmutableTagsTable): Promise<void> => {
  const { repository: _, ...rest } = row
  await tx
    .insertInto('oci_immutable_tags')
    .values(row)
    .onConflict((conflict) => conflict.column('repository').doUpdateSet(rest))
    .execute()
}
