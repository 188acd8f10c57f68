import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { pageWithActorNames } from '../../../journal/names.ts'
import { promotionPage, seenBy } from '../../../journal/repository/promotions.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import type { Order } from '../../../kernel/order.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'
import { publishedArtifact } from '../../catalog/artifacts/artifacts.ts'
import * as operations from './operations.ts'
import { type PromotionDeps, promote } from './promotion.ts'

export interface PromotionHandlerDeps extends PromotionDeps {
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export const promotionHandlers = (deps: PromotionHandlerDeps): BoundOperation[] => {
  const { database } = deps
  /** What the rule cannot know: that a move takes something away here stands in the body. */
  const mayMove = async (caller: Caller, repository: string): Promise<void> => {
    const held = await deps.heldActions(caller, repository)
    if (held.size === 0) throw notFound('repository')
    if (!held.has('artifact.promote'))
      throw new Failure('permission_missing', `This needs artifact.promote on the repository ${repository}.`)
  }
  /** A page as the caller may see it (I8). */
  const pageFor = async (
    caller: Caller,
    of: { repository: string; artifactId: string | null },
    { after, order, limit = pageDefault }: { after?: string; order?: Order; limit?: number },
  ) => {
    const { items, next } = await promotionPage(database, of, stretchAfter(order, after), limit)
    const seen = await seenBy(items, async (peer) => {
      const held = await deps.heldActions(caller, peer)
      return { repository: held.size > 0, artifact: held.has('artifact.read') }
    })
    return pageWithActorNames(database.reader, { items: seen, next })
  }
  return [
    handle(operations.listArtifactPromotions, async ({ path, query, caller }) => {
      const { repository, id } = path
      await publishedArtifact(database.reader, repository, id)
      return { status: 200, json: await pageFor(caller, { repository, artifactId: id }, query) }
    }),
    handle(operations.listPromotions, async ({ path, query, caller }) => ({
      status: 200,
      json: await pageFor(caller, { repository: path.repository, artifactId: null }, query),
    })),
    handle(operations.promoteArtifact, async ({ path, body, caller }) => {
      const { target, mode = 'copy', stages = [], comment = null } = body
      if (target === path.repository) throw invalid('/target', 'must be another repository')
      if (mode === 'move') await mayMove(caller, path.repository)
      const source = { repository: path.repository, artifactId: path.id }
      const promoted = await promote(deps, source, { target, mode, stages, comment }, actorOf(caller))
      return promoted.created ? { status: 201, json: promoted } : { status: 200, json: promoted }
    }),
  ]
}
