import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { refuseUnlessHeld } from '../../../features/identity/access/access.ts'
import { type PromotionListingDeps, promotionsFor } from '../../../features/lifecycle/promotion/listing.ts'
import type { PromotionDeps } from '../../../features/lifecycle/promotion/promotion.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { invalid } from '../../../kernel/failure.ts'
import { calledName } from '../called.ts'
import { tagFault } from '../publishing/claimed.ts'
import { versionAt } from '../versions.ts'
import * as operations from './operations.ts'
import { promote } from './promotion.ts'

export const npmPromotionHandlers = (deps: PromotionDeps & PromotionListingDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.promoteNpmVersion, async ({ path, body, caller }) => {
      const { repository } = path
      const { package: name, version, target, tags = [], mode = 'copy', stages = [], comment = null } = body
      if (target === repository) throw invalid('/target', 'must be another repository')
      for (const [at, tag] of tags.entries()) {
        const fault = tagFault(tag)
        if (fault !== null) throw invalid(`/tags/${at}`, fault)
      }
      if (mode === 'move') {
        const held = await deps.heldActions(caller, repository)
        for (const action of ['artifact.promote', 'asset.write'] as const) refuseUnlessHeld(held, action)
      }
      const by = { actor: actorOf(caller), called: await calledName(reader, caller) }
      const promoted = await promote(deps, { repository, name, version }, { target, tags, mode, stages, comment }, by)
      return promoted.created ? { status: 201, json: promoted } : { status: 200, json: promoted }
    }),
    handle(operations.listNpmPromotions, async ({ path, query, caller }) => {
      const { repository } = path
      const { package: name, version, ...asked } = query
      const { id } = await versionAt(reader, { repository, name, version })
      return { status: 200, json: await promotionsFor(deps, caller, { repository, artifactId: id }, asked) }
    }),
  ]
}
