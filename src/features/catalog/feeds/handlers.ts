import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { linesInTime } from '../../../journal/callers.ts'
import { withActorNames } from '../../../journal/names.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'
import { artifactNames } from '../artifacts/artifacts.ts'
import { auditPage, wantedAuditPage } from './audit.ts'
import { type ChangeDeps, nextChanges } from './changes.ts'
import * as operations from './operations.ts'

export interface FeedHandlerDeps extends ChangeDeps {
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export const feedHandlers = (deps: FeedHandlerDeps): BoundOperation[] => [
  handle(operations.listCatalogChanges, async ({ path, query, caller, request }) => {
    const wanted = {
      after: query.after === undefined ? null : Number(query.after),
      limit: query.limit ?? pageDefault,
      waitMs: (query.wait ?? 0) * 1000,
    }
    const asker = { caller: actorOf(caller), scope: request.scope, admitAgain: request.admitAgain }
    return { status: 200, json: await nextChanges(deps, path.repository, wanted, asker) }
  }),
  handle(operations.listAudit, async ({ path, query, caller }) => {
    const { database } = deps
    const { repository } = path
    const { after, order, actor, action, subject, from, to } = query
    const stretch = stretchAfter(order, after)
    const lists = (await deps.heldActions(caller, repository)).has('artifact.list')
    const isFiltered = [actor, action, subject, from, to].some((filter) => filter !== undefined)
    const { items, next } = isFiltered
      ? await wantedAuditPage(database, repository, stretch, {
          ...(await linesInTime(database.reader, { actor, from, to })),
          action: action ?? null,
          subject: subject === undefined ? null : { called: subject, lists },
        })
      : await auditPage(database, repository, stretch)
    const nameOf = await artifactNames(database.reader, repository, lists ? items.map((line) => line.artifactId) : [])
    const named = (await withActorNames(database.reader, items)).map((line) => ({
      ...line,
      detail: lists ? line.detail : null,
      artifactName: nameOf(line.artifactId),
    }))
    // Oldest first and unfiltered there has never been one: whoever follows goes on after the last line.
    return { status: 200, json: stretch.order === 'asc' && !isFiltered ? { items: named } : { items: named, next } }
  }),
]
