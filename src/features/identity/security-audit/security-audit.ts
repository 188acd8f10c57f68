import { withAllNames } from '../../../journal/names.ts'
import type { Telling } from '../../../journal/telling.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { pageOf } from '../../../kernel/page.ts'
import { securityAuditAfter } from './security-audit.queries.ts'
import { toAuthorityChange } from './views.ts'

/** Who changed what others may do, oldest first, beyond a sequence: every line that is kept. */
export const authorityChangesAfter = async (database: Telling, after: number) => {
  const rows = await securityAuditAfter(database, after, pageMax + 1)
  const { items, next } = pageOf(rows, pageMax, toAuthorityChange, ({ sequence }) => String(sequence))
  return { items: await withAllNames(database.reader, items), next }
}
