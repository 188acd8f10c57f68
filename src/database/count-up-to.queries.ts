import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely'
import type { Queries } from './database.ts'
import type { Tables } from './tables/index.ts'

/**
 * How many rows each of these repositories has of a kind, of which an engine looks at so many and no more: to count all
 * of a large list would take as long as to read it. Repositories without one are left out.
 */
export const countUpTo = async <Table extends keyof Tables>(
  q: Queries,
  repositories: readonly string[],
  rowsOf: (eb: ExpressionBuilder<Tables, 'repositories'>) => SelectQueryBuilder<Tables, 'repositories' | Table, object>,
  most: number,
): Promise<Map<string, number>> => {
  if (repositories.length === 0) return new Map()
  const found = await q
    .selectFrom('repositories')
    .select('id')
    .select((eb) =>
      eb
        .selectFrom(
          rowsOf(eb)
            .select((row) => row.lit(1).as('one'))
            .limit(most)
            .as('some'),
        )
        .select((some) => some.fn.countAll<number>().as('count'))
        .as('count'),
    )
    .where('id', 'in', repositories)
    .execute()
  return new Map(found.flatMap(({ id, count }) => (count === null || count === 0 ? [] : [[id, count] as const])))
}
