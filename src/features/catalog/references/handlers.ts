import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { addReference, removeReference } from './operations.ts'
import { addReference as add, type ReferenceParts, removeReference as remove } from './references.ts'

export const referenceHandlers = (parts: ReferenceParts): BoundOperation[] => [
  handle(addReference, async ({ path, body, caller }) => {
    await add(parts, { repository: path.repository, artifactId: path.id, key: body.key }, actorOf(caller))
    return { status: 204, json: null }
  }),
  handle(removeReference, async ({ path, body, caller }) => {
    await remove(parts, { repository: path.repository, artifactId: path.id, key: body.key }, actorOf(caller))
    return { status: 204, json: null }
  }),
]
