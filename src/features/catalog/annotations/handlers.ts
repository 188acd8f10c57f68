import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { pageWithActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { type AnnotationDeps, annotationHistory, getAnnotations, putAnnotations } from './annotations.ts'
import * as operations from './operations.ts'

export const annotationHandlers = (deps: AnnotationDeps): BoundOperation[] => [
  handle(operations.getAnnotations, async ({ path }) => ({
    status: 200,
    json: await getAnnotations(deps.database.reader, path.repository, path.id),
  })),
  handle(operations.putAnnotations, async ({ path, body, caller }) => ({
    status: 200,
    json: await putAnnotations(deps, path.repository, path.id, body, actorOf(caller)),
  })),
  handle(operations.listAnnotationHistory, async ({ path, query }) => {
    const { reader } = deps.database
    const page = await annotationHistory(reader, path.repository, path.id, query.before)
    return { status: 200, json: await pageWithActorNames(reader, page) }
  }),
]
