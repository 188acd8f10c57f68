import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { wantsHtml } from '../../../contract/pages/wants-html.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { mediaTypeWanted, saidMediaType } from '../../../kernel/media-types.ts'
import { parsePath } from '../../catalog/assets/assets.ts'
import { type PathDeps, servePath } from '../../catalog/assets/content.ts'
import { removePath } from '../../catalog/assets/removal.ts'
import type { TransferDeps } from '../uploads/uploads.ts'
import { folderAsPage, listFolder, namesFolder } from './folder.ts'
import * as operations from './operations.ts'
import { putRaw } from './raw.ts'

export const rawHandlers = (deps: TransferDeps & PathDeps): BoundOperation[] => [
  handle(operations.removeRaw, async ({ path, query, headers, caller }) => {
    const unwanted = {
      path: parsePath(path.assetPath, '/path/assetPath'),
      expectedRevision: query.expectedRevision,
      expects: { ifMatch: headers['if-match'], ifUnmodifiedSince: headers['if-unmodified-since'] },
    }
    return { status: 200, json: await removePath(deps, path.repository, unwanted, actorOf(caller)) }
  }),
  handle(operations.getRaw, async ({ path, query, headers, caller, request }) => {
    const { repository, assetPath } = path
    if (!namesFolder(assetPath)) {
      // A file has no pages. Clients that are made from the document send `limit` with its default, which asks for
      // nothing.
      if (query.after !== undefined) throw invalid('/query/after', 'is for folders, which end with a slash')
      return servePath(
        deps,
        { repository, path: parsePath(assetPath, '/path/assetPath') },
        caller,
        downloadAsked({ headers, caller, request }),
      )
    }
    const asked = { repository, folder: assetPath, after: query.after, limit: query.limit ?? pageDefault }
    const page = await listFolder(deps, asked, caller)
    if (wantsHtml(headers.accept)) return { status: 200, ...folderAsPage({ ...asked, baseUrl: request.baseUrl }, page) }
    const json = { 'content-type': 'application/json; charset=utf-8', vary: 'Origin, Accept' }
    return { status: 200, headers: json, text: JSON.stringify(page) }
  }),
  handle(operations.putRaw, async ({ path, headers, body, caller }) => {
    const checksum = headers['x-checksum-sha256']
    const said = saidMediaType(body.mediaType)
    if (said === 'malformed') throw new Failure('unsupported_media_type', `Content-Type must be ${mediaTypeWanted}.`)
    const stored = await putRaw(
      deps,
      { repository: path.repository, owner: actorOf(caller) },
      {
        path: parsePath(path.assetPath, '/path/assetPath'),
        mediaType: said.kept,
        declaredBytes: body.declaredBytes,
        digest: checksum === undefined ? null : toSha256(checksum.toLowerCase()),
        onlyNew: headers['if-none-match'] !== undefined,
        expects: { ifMatch: headers['if-match'], ifUnmodifiedSince: headers['if-unmodified-since'] },
        pieces: body.pieces,
      },
    )
    return stored.created ? { status: 201, json: stored } : { status: 200, json: stored }
  }),
]
