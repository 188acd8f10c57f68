import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { refuseUnlessHeld } from '../../../features/identity/access/access.ts'
import { type PromotionListingDeps, promotionsFor } from '../../../features/lifecycle/promotion/listing.ts'
import type { PromotionDeps } from '../../../features/lifecycle/promotion/promotion.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { invalid } from '../../../kernel/failure.ts'
import { manifestAt, refersTo, refuseLongName } from '../lookup.ts'
import * as operations from './operations.ts'
import { promote } from './promotion.ts'

export const imagePromotionHandlers = (deps: PromotionDeps & PromotionListingDeps): BoundOperation[] => [
  handle(operations.promoteImage, async ({ path, body, caller }) => {
    const { repository } = path
    const { image, reference, target, targetImage = image, mode = 'copy', stages = [], comment = null } = body
    const { tags = refersTo(reference).digest === null ? [reference] : [] } = body
    if (target === repository) throw invalid('/target', 'must be another repository')
    refuseLongName({ repository: target, name: targetImage })
    if (mode === 'move') {
      const held = await deps.heldActions(caller, repository)
      for (const action of ['artifact.promote', 'asset.write'] as const) refuseUnlessHeld(held, action)
    }
    const wanted = { to: { repository: target, name: targetImage }, tags, mode, stages, comment }
    const promoted = await promote(deps, { repository, name: image, reference }, wanted, actorOf(caller))
    return promoted.created ? { status: 201, json: promoted } : { status: 200, json: promoted }
  }),
  handle(operations.listImagePromotions, async ({ path, query, caller }) => {
    const { repository } = path
    const { image, reference, ...asked } = query
    const { manifest } = await manifestAt(deps.database.reader, { repository, name: image }, reference)
    return { status: 200, json: await promotionsFor(deps, caller, { repository, artifactId: manifest.id }, asked) }
  }),
]
