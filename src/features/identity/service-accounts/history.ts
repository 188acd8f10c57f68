import { withAllNames } from '../../../journal/names.ts'
import type { Telling } from '../../../journal/telling.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { pageOf } from '../../../kernel/page.ts'
import { serviceAuditAfter } from './service-accounts.queries.ts'

type Row = Awaited<ReturnType<typeof serviceAuditAfter>>[number]

const toChange = (row: Row) => ({
  sequence: String(row.sequence),
  occurredAt: row.occurred_at,
  actor: row.actor,
  action: row.action,
  subject: row.subject,
})

/** What was done to an account and its keys, oldest first, beyond a sequence. */
export const historyOf = async (database: Telling, accountId: string, after: number) => {
  const rows = await serviceAuditAfter(database, accountId, after, pageMax + 1)
  const { items, next } = pageOf(rows, pageMax, toChange, ({ sequence }) => String(sequence))
  return { items: await withAllNames(database.reader, items), next }
}
