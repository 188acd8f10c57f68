import { type ServeDeps, serve } from '../../../content/serve/serve.ts'
import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { cursorAt, startAfter } from '../../../kernel/order.ts'
import { artifactsAfter, publishedArtifact } from './artifacts.ts'
import * as operations from './operations.ts'
import { toRecord } from './views.ts'

export interface ArtifactHandlerDeps extends ServeDeps {
  readonly database: Database
}

export const artifactHandlers = (deps: ArtifactHandlerDeps): BoundOperation[] => [
  handle(operations.listArtifacts, async ({ path, query }) => {
    const limit = query.limit ?? pageDefault
    const start = startAfter(query.order, query.after)
    const rows = await artifactsAfter(deps.database.reader, path.repository, start, limit)
    const last = rows.length === limit ? rows.at(-1) : undefined
    const next = last === undefined ? null : cursorAt(start.order, last.id)
    return { status: 200, json: { items: rows.map((row) => toRecord(row, 'available')), next } }
  }),
  handle(operations.getArtifact, async ({ path }) => ({
    status: 200,
    json: toRecord(await publishedArtifact(deps.database.reader, path.repository, path.id), 'available'),
  })),
  handle(operations.getArtifactContent, async ({ path, query, headers, caller, request }) => {
    const row = await publishedArtifact(deps.database.reader, path.repository, path.id)
    const file = { digest: toSha256(row.sha256), bytes: row.size, name: row.name, modifiedAt: row.published_at }
    const asked = downloadAsked({ headers, caller, request })
    const id = asked.id ?? query.downloadId
    return serve(deps, file, { ...asked, id, comesOnce: asked.id === undefined && id !== undefined })
  }),
]
