import { sql } from 'kysely'
import type { Queries } from '../../database/database.ts'
import { npmFoundByMaxCharacters } from '../../kernel/limits/npm.ts'

const listed = (q: Queries, repository: string) =>
  q.selectFrom('npm_packages').where('repository', '=', repository).where('versions', '>', 0)

export const countPackages = async (q: Queries, repository: string): Promise<number> =>
  Number(
    (
      await listed(q, repository)
        .select((eb) => eb.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  )

/** Some packages, by name. */
export const packagesFrom = (q: Queries, repository: string, from: number, limit: number) =>
  listed(q, repository).select(['summary', 'modified_at']).orderBy('name').limit(limit).offset(from).execute()

/** Those behind a name, and what they are found by. */
export const packagesBehind = (q: Queries, repository: string, name: string, limit: number) =>
  listed(q, repository)
    .select(['name', sql<string>`substr(found_by, 1, ${sql.lit(npmFoundByMaxCharacters)})`.as('found_by')])
    .where('name', '>', name)
    .orderBy('name')
    .limit(limit)
    .execute()

/** Those of some names, by name. */
export const packagesNamed = (q: Queries, repository: string, names: readonly string[]) =>
  listed(q, repository).select(['summary', 'modified_at']).where('name', 'in', names).orderBy('name').execute()
