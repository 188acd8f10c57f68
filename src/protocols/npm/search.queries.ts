import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'

const matching = (q: Queries, repository: string, words: readonly string[]) =>
  words.reduce(
    (query, word) => query.where(sql<boolean>`found_by like ${`%${word.replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`),
    q.selectFrom('npm_packages').where('repository', '=', repository).where('versions', '>', 0),
  )

export const countFound = async (q: Queries, repository: string, words: readonly string[]): Promise<number> =>
  Number(
    (
      await matching(q, repository, words)
        .select((eb) => eb.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  )

export const foundPackages = (
  q: Queries,
  repository: string,
  words: readonly string[],
  { from, limit }: { readonly from: number; readonly limit: number },
) =>
  matching(q, repository, words).select(['summary', 'modified_at']).orderBy('name').limit(limit).offset(from).execute()
