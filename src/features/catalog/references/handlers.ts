import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import * as operations from './operations.ts'
import { addReference, type ReferenceParts, removeReference } from './references.ts'

export const referenceHandlers = (parts: ReferenceParts): BoundOperation[] => [
  handle(operations.addReference, async ({ path, body, caller }) => {
    await addReference(parts, { repository: path.repository, artifactId: path.id, key: body.key }, actorOf(caller))
    return { status: 204, json: null }
  }),
  handle(operations.removeReference, async ({ path, body, caller }) => {
    await removeReference(parts, { repository: path.repository, artifactId: path.id, key: body.key }, actorOf(caller))
    return { status: 204, json: null }
  }),
]
