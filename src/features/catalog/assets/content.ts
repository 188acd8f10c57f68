import { type ServeDeps, type ServeRequest, serve } from '../../../content/serve/serve.ts'
import type { ByteAnswer } from '../../../contract/handler.ts'
import type { Queries } from '../../../database/database.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { notFound } from '../../../kernel/failure.ts'
import { servedMediaType } from '../../../kernel/media-types.ts'
import { findAssetContent } from './assets.queries.ts'
import { nothingAt } from './nothing-at.ts'

/** The current revision of a path and the file behind it; undefined where there is none. */
export const contentAt = findAssetContent
export type ContentAt = Awaited<ReturnType<typeof findAssetContent>>

export interface PathDeps extends ServeDeps {
  readonly database: { readonly reader: Queries }
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

interface At {
  readonly repository: string
  readonly path: string
}

/**
 * Sends the file that a path shows now, resolved anew on every request. 404 where there is none; what was there once is
 * told to whoever may read paths, and to nobody who may only fetch files.
 */
export const servePath = async (deps: PathDeps, at: At, caller: Caller, request: ServeRequest): Promise<ByteAnswer> => {
  const { reader } = deps.database
  const found = await contentAt(reader, at.repository, at.path)
  if (found === undefined) {
    const mayRead = (await deps.heldActions(caller, at.repository)).has('asset.read')
    throw mayRead ? await nothingAt(reader, at.repository, at.path) : notFound('path')
  }
  const file = {
    digest: toSha256(found.sha256),
    bytes: found.size,
    name: found.name,
    modifiedAt: found.created_at,
    mediaType: servedMediaType(found.media_type),
  }
  return serve(deps, file, request, { 'x-svc-artifact-id': found.artifact_id })
}
