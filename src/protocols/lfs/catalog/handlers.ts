import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { pageWithActorNames, withActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { startAfter } from '../../../kernel/order.ts'
import { deleteObject, restoreObject } from '../deleting.ts'
import { deletedObjectsOf, objectsOf, toListed } from './listing.ts'
import * as operations from './operations.ts'

interface CatalogDeps {
  readonly database: Database
  readonly clock: Clock
  readonly cleanupGraceMs: number
}

export const lfsCatalogHandlers = (deps: CatalogDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.listLfsObjects, async ({ path, query }) => {
      const { order, after, limit = pageDefault } = query
      const page = await objectsOf(reader, path.repository, startAfter(order, after), limit)
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.deleteLfsObject, async ({ path, caller }) => {
      await deleteObject(deps, { repository: path.repository, owner: actorOf(caller) }, path.oid)
      return { status: 204, json: null }
    }),
    handle(operations.listDeletedLfsObjects, async ({ path, query }) => {
      const { order = 'asc', after, limit = pageDefault } = query
      const page = await deletedObjectsOf(deps, path.repository, { order, after, limit })
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.restoreLfsObject, async ({ path, caller }) => {
      const scope = { repository: path.repository, owner: actorOf(caller) }
      const restored = toListed(await restoreObject(deps, scope, path.oid))
      const [named] = await withActorNames(reader, [restored])
      return { status: 200, json: { ...restored, actorName: named?.actorName ?? null } }
    }),
  ]
}
