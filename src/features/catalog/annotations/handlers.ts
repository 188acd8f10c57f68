import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { type AnnotationParts, getAnnotations as get, putAnnotations as put } from './annotations.ts'
import { getAnnotations, putAnnotations } from './operations.ts'

export const annotationHandlers = (parts: AnnotationParts): BoundOperation[] => [
  handle(getAnnotations, async ({ path }) => ({
    status: 200,
    json: await get(parts.database.reader, path.repository, path.id),
  })),
  handle(putAnnotations, async ({ path, body, caller }) => ({
    status: 200,
    json: await put(parts, path.repository, path.id, body, actorOf(caller)),
  })),
]
