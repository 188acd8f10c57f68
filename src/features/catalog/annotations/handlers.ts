import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { type AnnotationDeps, getAnnotations, putAnnotations } from './annotations.ts'
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
]
