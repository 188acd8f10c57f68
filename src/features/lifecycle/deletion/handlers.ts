import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { toRecord } from '../../catalog/artifacts/views.ts'
import { checkDeletion, type DeletionDeps, deleteArtifact, restoreArtifact } from './deletion.ts'
import * as operations from './operations.ts'

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
  handle(operations.restoreArtifact, async ({ path, caller }) => {
    const row = await restoreArtifact(deps, path.repository, path.id, actorOf(caller))
    return { status: 200, json: toRecord(row, 'available') }
  }),
]
