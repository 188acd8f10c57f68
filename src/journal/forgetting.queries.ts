import type { Queries, Transaction } from '../database/database.ts'

export interface OldLine {
  readonly sequence: number
  readonly occurred_at: string
}

/** Lines that follow each other. */
export interface Run {
  readonly first: number
  readonly last: number
}

/** Repositories, deleted ones too: their journals stay. */
export const repositoriesAfter = async (q: Queries, after: string, limit: number): Promise<string[]> => {
  const rows = await q
    .selectFrom('repositories')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

export const oldestLines = (q: Queries, repository: string, limit: number): Promise<OldLine[]> =>
  q
    .selectFrom('journal')
    .select(['sequence', 'occurred_at'])
    .where('repository', '=', repository)
    .orderBy('sequence')
    .limit(limit)
    .execute()

/** Both ends are said, so that the planner of PostgreSQL knows how few lines these are. */
export const deleteLines = async (tx: Transaction, repository: string, run: Run): Promise<void> => {
  await tx
    .deleteFrom('journal')
    .where('repository', '=', repository)
    .where('sequence', '>=', run.first)
    .where('sequence', '<=', run.last)
    .execute()
}

export const oldestSecurityLines = (q: Queries, limit: number): Promise<OldLine[]> =>
  q.selectFrom('security_audit').select(['sequence', 'occurred_at']).orderBy('sequence').limit(limit).execute()

export const deleteSecurityLines = async (tx: Transaction, run: Run): Promise<void> => {
  await tx.deleteFrom('security_audit').where('sequence', '>=', run.first).where('sequence', '<=', run.last).execute()
}
