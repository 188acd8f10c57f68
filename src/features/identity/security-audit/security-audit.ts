import { withAllNames } from '../../../journal/names.ts'
import type { Telling } from '../../../journal/telling.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { cursorAt } from '../../../kernel/order.ts'
import { pageOf } from '../../../kernel/page.ts'
import type { Stretch } from '../../../kernel/sequence.ts'
import { securityAuditRows } from './security-audit.queries.ts'
import { toAuthorityChange } from './views.ts'

/** Who changed what others may do: a page of every line that is kept in a stretch. */
export const authorityChanges = async (database: Telling, stretch: Stretch) => {
  const rows = await securityAuditRows(database, stretch, pageMax + 1)
  const { items, next } = pageOf(rows, pageMax, toAuthorityChange, ({ sequence }) =>
    cursorAt(stretch.order, String(sequence)),
  )
  return { items: await withAllNames(database.reader, items), next }
}
