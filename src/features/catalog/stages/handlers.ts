import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { addStage, listArtifactStages, listStages, removeStage } from './operations.ts'
import { addStage as add, removeStage as remove, type StageParts, stagePage, stagesOf } from './stages.ts'

export const stageHandlers = (parts: StageParts): BoundOperation[] => {
  const { reader } = parts.database
  return [
    handle(listArtifactStages, async ({ path }) => ({
      status: 200,
      json: { items: await stagesOf(reader, path.repository, path.id) },
    })),
    handle(addStage, async ({ path, body, caller }) => ({
      status: 200,
      json: await add(parts, path, body.comment ?? null, actorOf(caller)),
    })),
    handle(removeStage, async ({ path, caller }) => {
      await remove(parts, path, actorOf(caller))
      return { status: 204, json: null }
    }),
    handle(listStages, async ({ path, query }) => {
      const { stage, ids, after, limit = pageMax } = query
      return {
        status: 200,
        json: await stagePage(reader, path.repository, { stage, ids: ids?.split(','), after, limit }),
      }
    }),
  ]
}
