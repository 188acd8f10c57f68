import type { Database } from '../../../database/database.ts'
import { journalRows } from '../../../journal/repository/journal.queries.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { cursorAt } from '../../../kernel/order.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import type { Stretch } from '../../../kernel/sequence.ts'

/** What was changed in a repository, by whom and when. */
export interface AuditEntry {
  readonly sequence: string
  readonly actor: string
  readonly action: string
  readonly artifactId: string
  readonly occurredAt: string
}

/**
 * The journal with its actors: a page of every line that is kept in a stretch. Sequences have no gaps, so whoever reads
 * on after lines were forgotten sees that by the first one.
 */
export const auditPage = async (
  database: Database,
  repository: string,
  stretch: Stretch,
): Promise<Page<AuditEntry>> => {
  const rows = await journalRows(database, repository, stretch, pageMax + 1)
  const show = (row: (typeof rows)[number]): AuditEntry => ({
    sequence: String(row.sequence),
    actor: row.actor,
    action: row.action,
    artifactId: row.artifact_id,
    occurredAt: row.occurred_at,
  })
  return pageOf(rows, pageMax, show, ({ sequence }) => cursorAt(stretch.order, String(sequence)))
}
