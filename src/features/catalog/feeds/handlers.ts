import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { withActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'
import { auditPage } from './audit.ts'
import { type ChangeDeps, nextChanges } from './changes.ts'
import * as operations from './operations.ts'

export const feedHandlers = (deps: ChangeDeps): BoundOperation[] => [
  handle(operations.listCatalogChanges, async ({ path, query, caller, request }) => {
    const wanted = {
      after: query.after === undefined ? null : Number(query.after),
      limit: query.limit ?? pageDefault,
      waitMs: (query.wait ?? 0) * 1000,
    }
    const asker = { caller: actorOf(caller), scope: request.scope, admitAgain: request.admitAgain }
    return { status: 200, json: await nextChanges(deps, path.repository, wanted, asker) }
  }),
  handle(operations.listAudit, async ({ path, query }) => {
    const stretch = stretchAfter(query.order, query.after)
    const { items, next } = await auditPage(deps.database, path.repository, stretch)
    const named = await withActorNames(deps.database.reader, items)
    // Oldest first there has never been one: whoever follows goes on after the last line.
    return { status: 200, json: stretch.order === 'asc' ? { items: named } : { items: named, next } }
  }),
]
