import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { StageDeps } from '../../../features/catalog/stages/stages.ts'
import { pageWithActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { invalid } from '../../../kernel/failure.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import * as operations from './operations.ts'
import { addStage, removeStage, stagePage } from './stages.ts'

export const imageStageHandlers = (deps: StageDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.listImageStages, async ({ path, query }) => {
      const { stage, image, reference, after, limit = pageMax } = query
      if (reference !== undefined && image === undefined) throw invalid('/query/image', 'must say of what image')
      const page = await stagePage(reader, path.repository, { stage, image, reference, after, limit })
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.addImageStage, async ({ path, body, caller }) => {
      const { comment = null, ...image } = body
      return { status: 200, json: await addStage(deps, { ...path, ...image }, comment, actorOf(caller)) }
    }),
    handle(operations.removeImageStage, async ({ path, query, caller }) => {
      await removeStage(deps, { ...path, ...query }, actorOf(caller))
      return { status: 204, json: null }
    }),
  ]
}
