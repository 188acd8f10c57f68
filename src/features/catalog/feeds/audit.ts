import type { Database } from '../../../database/database.ts'
import { journalRowsAfter } from '../../../journal/repository/journal.queries.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'

/** What was changed in a repository, by whom and when. */
export interface AuditEntry {
  readonly sequence: string
  readonly actor: string
  readonly action: string
  readonly artifactId: string
  readonly occurredAt: string
}

/**
 * The journal with its actors, oldest first, beyond a sequence: every line that is kept. Sequences have no gaps, so
 * whoever reads on after lines were forgotten sees that by the first one.
 */
export const auditAfter = async (database: Database, repository: string, after: number): Promise<AuditEntry[]> => {
  const rows = await journalRowsAfter(database, repository, after, pageMax)
  return rows.map((row) => ({
    sequence: String(row.sequence),
    actor: row.actor,
    action: row.action,
    artifactId: row.artifact_id,
    occurredAt: row.occurred_at,
  }))
}
