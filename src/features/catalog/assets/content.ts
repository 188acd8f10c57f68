import { type ServeDeps, type ServeRequest, serve } from '../../../content/serve/serve.ts'
import type { ByteAnswer } from '../../../contract/handler.ts'
import type { Queries } from '../../../database/database.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { servedMediaType } from '../../../kernel/media-types.ts'
import { findAssetContent } from './assets.queries.ts'
import { nothingAt } from './nothing-at.ts'

/** The current revision of a path and the file behind it; undefined where there is none. */
export const contentAt = findAssetContent
export type ContentAt = Awaited<ReturnType<typeof findAssetContent>>

/** Sends the file that a path shows now, resolved anew on every request. 404 where there is none. */
export const servePath = async (
  deps: ServeDeps & { readonly database: { readonly reader: Queries } },
  repository: string,
  path: string,
  request: ServeRequest,
): Promise<ByteAnswer> => {
  const found = await contentAt(deps.database.reader, repository, path)
  if (found === undefined) throw await nothingAt(deps.database.reader, repository, path)
  const file = {
    digest: toSha256(found.sha256),
    bytes: found.size,
    name: found.name,
    modifiedAt: found.created_at,
    mediaType: servedMediaType(found.media_type),
  }
  return serve(deps, file, request, { 'x-svc-artifact-id': found.artifact_id })
}
