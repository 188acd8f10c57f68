import type { Queries } from '../database/database.ts'

/** The grace periods that some repository has of its own, each once. */
export const graceOverrides = async (q: Queries): Promise<number[]> => {
  const rows = await q
    .selectFrom('repositories')
    .select('grace_hours')
    .distinct()
    .where('grace_hours', 'is not', null)
    .execute()
  return rows.flatMap(({ grace_hours }) => (grace_hours === null ? [] : [grace_hours]))
}

/** Claims retired until a moment in repositories with this grace period. */
export const retiredUnderGrace = async (
  q: Queries,
  graceHours: number | null,
  until: string,
  limit: number,
): Promise<string[]> => {
  const rows = await q
    .selectFrom('claims')
    .innerJoin('repositories', 'repositories.id', 'claims.repository')
    .select('claims.id')
    .where('claims.retired_at', '<=', until)
    .where('repositories.grace_hours', graceHours === null ? 'is' : '=', graceHours)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
