import type { Queries, Transaction } from '../database/database.ts'

interface OldLine {
  readonly sequence: number
  readonly occurred_at: string
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

export const deleteLinesUpTo = async (tx: Transaction, repository: string, sequence: number): Promise<void> => {
  await tx.deleteFrom('journal').where('repository', '=', repository).where('sequence', '<=', sequence).execute()
}

export const oldestSecurityLines = (q: Queries, limit: number): Promise<OldLine[]> =>
  q.selectFrom('security_audit').select(['sequence', 'occurred_at']).orderBy('sequence').limit(limit).execute()

export const deleteSecurityLinesUpTo = async (tx: Transaction, sequence: number): Promise<void> => {
  await tx.deleteFrom('security_audit').where('sequence', '<=', sequence).execute()
}
