import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { StageDeps } from '../../../features/catalog/stages/stages.ts'
import { pageWithActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { invalid } from '../../../kernel/failure.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import * as operations from './operations.ts'
import { addStage, removeStage, stagePage } from './stages.ts'

export const npmStageHandlers = (deps: StageDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.listNpmStages, async ({ path, query }) => {
      if (query.version !== undefined && query.package === undefined)
        throw invalid('/query/package', 'must say of what package')
      const page = await stagePage(reader, path.repository, { limit: pageDefault, ...query })
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.addNpmStage, async ({ path, body, caller }) => {
      const named = { repository: path.repository, name: body.package, version: body.version }
      const by = { actor: actorOf(caller), comment: body.comment ?? null }
      return { status: 200, json: await addStage(deps, named, path.stage, by) }
    }),
    handle(operations.removeNpmStage, async ({ path, query, caller }) => {
      const named = { repository: path.repository, name: query.package, version: query.version }
      await removeStage(deps, named, path.stage, actorOf(caller))
      return { status: 204, json: null }
    }),
  ]
}
