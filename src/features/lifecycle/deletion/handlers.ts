import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { toRecord } from '../../catalog/artifacts/views.ts'
import { deletedFiles } from './deleted.ts'
import { checkDeletion, type DeletionDeps, deleteArtifact, restoreArtifact } from './deletion.ts'
import * as operations from './operations.ts'

const restore = async (
  deps: DeletionDeps,
  { path, caller }: { readonly path: { readonly repository: string; readonly id: string }; readonly caller: Caller },
) => ({
  status: 200 as const,
  json: toRecord(await restoreArtifact(deps, path.repository, path.id, actorOf(caller)), 'available'),
})

export const deletionHandlers = (deps: DeletionDeps): BoundOperation[] => [
  handle(operations.checkArtifactDeletion, async ({ path }) => {
    const { row, annotationRevision, blockers } = await checkDeletion(deps, path.repository, path.id)
    const { id, name, size, published_at: publishedAt } = row
    return { status: 200, json: { id, name, size: String(size), publishedAt, annotationRevision, blockers } }
  }),
  handle(operations.deleteArtifact, async ({ path, body, caller }) => {
    const unwanted = { id: path.id, annotationRevision: body.expectedAnnotationRevision }
    return { status: 200, json: await deleteArtifact(deps, path.repository, unwanted, actorOf(caller)) }
  }),
  handle(operations.restoreArtifact, (input) => restore(deps, input)),
  handle(operations.restoreDeletedArtifact, (input) => restore(deps, input)),
  handle(operations.listDeletedArtifacts, async ({ path, query }) => {
    const { order = 'asc', after, limit = pageDefault } = query
    return { status: 200, json: await deletedFiles(deps, path.repository, { order, after, limit }) }
  }),
]
