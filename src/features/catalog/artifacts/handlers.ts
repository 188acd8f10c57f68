import { type ServeParts, serve } from '../../../content/serve.ts'
import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { pageDefault } from '../../../kernel/limits.ts'
import { artifactsAfter, publishedArtifact } from './artifacts.ts'
import { checkDeletion, type DeletionParts, deleteArtifact as remove, restoreArtifact as restore } from './deletion.ts'
import {
  checkArtifactDeletion,
  deleteArtifact,
  getArtifact,
  getArtifactContent,
  listArtifacts,
  restoreArtifact,
} from './operations.ts'
import { toRecord } from './views.ts'

export interface ArtifactHandlerParts extends ServeParts, DeletionParts {
  readonly database: Database
}

export const artifactHandlers = (parts: ArtifactHandlerParts): BoundOperation[] => [
  handle(listArtifacts, async ({ path, query }) => {
    const limit = query.limit ?? pageDefault
    const rows = await artifactsAfter(parts.database.reader, path.repository, query.after ?? '', limit)
    const next = rows.length === limit ? (rows.at(-1)?.id ?? null) : null
    return { status: 200, json: { items: rows.map((row) => toRecord(row, 'available')), next } }
  }),
  handle(getArtifact, async ({ path }) => ({
    status: 200,
    json: toRecord(await publishedArtifact(parts.database.reader, path.repository, path.id), 'available'),
  })),
  handle(getArtifactContent, async ({ path, headers, caller, request }) => {
    const row = await publishedArtifact(parts.database.reader, path.repository, path.id)
    const file = { digest: toSha256(row.sha256), bytes: row.size, name: row.name }
    return serve(parts, file, downloadAsked({ headers, caller, request }))
  }),
  handle(checkArtifactDeletion, async ({ path }) => {
    const { row, annotationRevision, blockers } = await checkDeletion(parts, path.repository, path.id)
    const { id, name, size, published_at: publishedAt } = row
    return { status: 200, json: { id, name, size: String(size), publishedAt, annotationRevision, blockers } }
  }),
  handle(deleteArtifact, async ({ path, body, caller }) => {
    const unwanted = { id: path.id, annotationRevision: body.expectedAnnotationRevision }
    return { status: 200, json: await remove(parts, path.repository, unwanted, actorOf(caller)) }
  }),
  handle(restoreArtifact, async ({ path, caller }) => {
    const row = await restore(parts, path.repository, path.id, actorOf(caller))
    return { status: 200, json: toRecord(row, 'available') }
  }),
]
