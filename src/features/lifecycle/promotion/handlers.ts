import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { invalid } from '../../../kernel/failure.ts'
import { publishedArtifact } from '../../catalog/artifacts/artifacts.ts'
import { refuseUnlessHeld } from '../../identity/access/access.ts'
import { type PromotionListingDeps, promotionsFor } from './listing.ts'
import * as operations from './operations.ts'
import { type PromotionDeps, promote } from './promotion.ts'

export const promotionHandlers = (deps: PromotionDeps & PromotionListingDeps): BoundOperation[] => {
  const { database } = deps
  return [
    handle(operations.listArtifactPromotions, async ({ path, query, caller }) => {
      const { repository, id } = path
      await publishedArtifact(database.reader, repository, id)
      return { status: 200, json: await promotionsFor(deps, caller, { repository, artifactId: id }, query) }
    }),
    handle(operations.listPromotions, async ({ path, query, caller }) => ({
      status: 200,
      json: await promotionsFor(deps, caller, { repository: path.repository, artifactId: null }, query),
    })),
    handle(operations.promoteArtifact, async ({ path, body, caller }) => {
      const { target, mode = 'copy', stages = [], comment = null } = body
      if (target === path.repository) throw invalid('/target', 'must be another repository')
      // What the rule cannot know: that a move takes something away here stands in the body.
      if (mode === 'move') refuseUnlessHeld(await deps.heldActions(caller, path.repository), 'artifact.promote')
      const source = { repository: path.repository, artifactId: path.id }
      const promoted = await promote(deps, source, { target, mode, stages, comment }, actorOf(caller))
      return promoted.created ? { status: 201, json: promoted } : { status: 200, json: promoted }
    }),
  ]
}
