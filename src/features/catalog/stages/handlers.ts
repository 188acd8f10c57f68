import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { pageWithActorNames, withActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { artifactNames } from '../artifacts/artifacts.ts'
import * as operations from './operations.ts'
import { addStage, removeStage, type StageDeps, stagePage, stagesOf } from './stages.ts'

export const stageHandlers = (deps: StageDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.listArtifactStages, async ({ path }) => ({
      status: 200,
      json: { items: await withActorNames(reader, await stagesOf(reader, path.repository, path.id)) },
    })),
    handle(operations.addStage, async ({ path, body, caller }) => ({
      status: 200,
      json: await addStage(deps, path, body.comment ?? null, actorOf(caller)),
    })),
    handle(operations.removeStage, async ({ path, caller }) => {
      await removeStage(deps, path, actorOf(caller))
      return { status: 204, json: null }
    }),
    handle(operations.listStages, async ({ path, query }) => {
      const { stage, ids, after, limit = pageMax } = query
      const page = await stagePage(reader, path.repository, { stage, ids: ids?.split(','), after, limit })
      const { items, next } = await pageWithActorNames(reader, page)
      const ofFiles = items.map(({ artifactId }) => artifactId)
      const nameOf = await artifactNames(reader, path.repository, ofFiles)
      return {
        status: 200,
        json: { items: items.map((each) => ({ ...each, artifactName: nameOf(each.artifactId) })), next },
      }
    }),
  ]
}
