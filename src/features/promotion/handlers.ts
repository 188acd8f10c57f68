import { type BoundOperation, handle } from '../../contract/handler.ts'
import { promotionsAfter } from '../../journal/promotions.ts'
import type { RepositoryAction } from '../../kernel/actions.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import { Failure, invalid, notFound } from '../../kernel/failure.ts'
import { pageDefault } from '../../kernel/limits.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { listArtifactPromotions, listPromotions, promoteArtifact } from './operations.ts'
import { type PromotionParts, promote } from './promotion.ts'

export interface PromotionHandlerParts extends PromotionParts {
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export const promotionHandlers = (parts: PromotionHandlerParts): BoundOperation[] => {
  const { database } = parts
  /** What the pipeline cannot know: the target stands in the body. A repository that the caller may not see is no target. */
  const mayPromote = async (caller: Caller, repository: string): Promise<void> => {
    const held = await parts.heldActions(caller, repository)
    if (held.size === 0) throw notFound('repository')
    if (!held.has('artifact.promote'))
      throw new Failure('permission_missing', `This needs artifact.promote on the repository ${repository}.`)
  }
  return [
    handle(listArtifactPromotions, async ({ path, query }) => {
      const { repository, id } = path
      await publishedArtifact(database.reader, repository, id)
      const of = { repository, artifactId: id }
      return { status: 200, json: await promotionsAfter(database, of, query.after, query.limit ?? pageDefault) }
    }),
    handle(listPromotions, async ({ path, query }) => {
      const of = { repository: path.repository, artifactId: null }
      return { status: 200, json: await promotionsAfter(database, of, query.after, query.limit ?? pageDefault) }
    }),
    handle(promoteArtifact, async ({ path, body, caller }) => {
      const { target, mode = 'copy', stages = [], comment = null } = body
      if (target === path.repository) throw invalid('/target', 'must be another repository')
      await mayPromote(caller, target)
      if (mode === 'move') await mayPromote(caller, path.repository)
      const source = { repository: path.repository, artifactId: path.id }
      const promoted = await promote(parts, source, { target, mode, stages, comment }, actorOf(caller))
      return promoted.created ? { status: 201, json: promoted } : { status: 200, json: promoted }
    }),
  ]
}
