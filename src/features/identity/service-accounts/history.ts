import { withAllNames } from '../../../journal/names.ts'
import type { Telling } from '../../../journal/telling.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { cursorAt } from '../../../kernel/order.ts'
import { pageOf } from '../../../kernel/page.ts'
import type { Stretch } from '../../../kernel/sequence.ts'
import { serviceAuditRows } from './service-accounts.queries.ts'

type Row = Awaited<ReturnType<typeof serviceAuditRows>>[number]

const toChange = (row: Row) => ({
  sequence: String(row.sequence),
  occurredAt: row.occurred_at,
  actor: row.actor,
  action: row.action,
  subject: row.subject,
})

/** What was done to an account and its keys, a page of a stretch. */
export const historyOf = async (database: Telling, accountId: string, stretch: Stretch) => {
  const rows = await serviceAuditRows(database, accountId, stretch, pageMax + 1)
  const { items, next } = pageOf(rows, pageMax, toChange, ({ sequence }) => cursorAt(stretch.order, String(sequence)))
  return { items: await withAllNames(database.reader, items), next }
}
