import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { withActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { sequenceAfter } from '../../../kernel/sequence.ts'
import { auditAfter } from './audit.ts'
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
  handle(operations.listAudit, async ({ path, query }) => ({
    status: 200,
    json: {
      items: await withActorNames(
        deps.database.reader,
        await auditAfter(deps.database, path.repository, sequenceAfter(query.after)),
      ),
    },
  })),
]
