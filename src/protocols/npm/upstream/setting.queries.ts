import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { NpmUpstreamsTable } from '../../../database/tables/npm-upstreams.ts'

const ofRepository = prepareQuery(
  (q, p: Parameters<{ repository: string }>) =>
    q
      .selectFrom('npm_upstreams')
      .select(['repository', 'revision', 'url', 'reserved', 'fresh_seconds', 'saved_at', 'actor'])
      .where('repository', '=', p('repository')),
  { planned: 'once' },
)

/** What was last said of a repository's upstream. */
export const findUpstream = async (q: Queries, repository: string): Promise<NpmUpstreamsTable | undefined> =>
  (await ofRepository(q, { repository }))[0]

export const writeUpstream = async (tx: Transaction, row: NpmUpstreamsTable): Promise<void> => {
  const { repository: _, ...rest } = row
  await tx
    .insertInto('npm_upstreams')
    .values(row)
    .onConflict((conflict) => conflict.column('repository').doUpdateSet(rest))
    .execute()
}
