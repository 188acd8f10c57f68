import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { pageWithActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import * as operations from './operations.ts'
import { addReference, type ReferenceDeps, referencesTo, removeReference } from './references.ts'

export const referenceHandlers = (deps: ReferenceDeps): BoundOperation[] => [
  handle(operations.addReference, async ({ path, body, caller }) => {
    await addReference(deps, { repository: path.repository, artifactId: path.id, key: body.key }, actorOf(caller))
    return { status: 204, json: null }
  }),
  handle(operations.removeReference, async ({ path, body, caller }) => {
    await removeReference(deps, { repository: path.repository, artifactId: path.id, key: body.key }, actorOf(caller))
    return { status: 204, json: null }
  }),
  handle(operations.listReferences, async ({ path, query }) => {
    const { reader } = deps.database
    const page = await referencesTo(reader, path, query.after, query.limit ?? pageDefault)
    return { status: 200, json: await pageWithActorNames(reader, page) }
  }),
]
