import { type ServeParts, type ServeRequest, serve } from '../../../content/serve.ts'
import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { pageDefault } from '../../../kernel/limits.ts'
import type { TransferParts } from '../../transfers/uploads/uploads.ts'
import { assetPage, assetsUnder, currentAsset, currentContent, parsePath, setAsset } from './assets.ts'
import { assetHistory, assetRevision, restoreAsset as restore } from './history.ts'
import {
  getAsset,
  getAssetContent,
  getAssetRevision,
  getRaw,
  listAssetHistory,
  listAssetPage,
  listAssets,
  putAsset,
  putRaw,
  restoreAsset,
} from './operations.ts'
import { putRaw as storeRaw } from './raw.ts'

export const assetHandlers = (parts: TransferParts & ServeParts): BoundOperation[] => {
  const { reader } = parts.database
  const send = async (repository: string, path: string, request: ServeRequest) => {
    const { artifact_id, name, size, sha256 } = await currentContent(reader, repository, path)
    const file = { digest: toSha256(sha256), bytes: size, name }
    return serve(parts, file, request, { 'x-svc-artifact-id': artifact_id })
  }
  return [
    handle(listAssets, async ({ path, query }) => ({
      status: 200,
      json: { items: await assetsUnder(reader, path.repository, query.prefix ?? '') },
    })),
    handle(listAssetPage, async ({ path, query }) => {
      const page = { prefix: query.prefix ?? '', after: query.after, limit: query.limit ?? pageDefault }
      return { status: 200, json: await assetPage(reader, path.repository, page) }
    }),
    handle(getAsset, async ({ path, query }) => ({
      status: 200,
      json: await currentAsset(reader, path.repository, parsePath(query.path, '/query/path')),
    })),
    handle(putAsset, async ({ path, body, caller }) => ({
      status: 200,
      json: await setAsset(parts, path.repository, { ...body, path: parsePath(body.path, '/path') }, actorOf(caller)),
    })),
    handle(listAssetHistory, async ({ path, query }) => ({
      status: 200,
      json: await assetHistory(reader, path.repository, parsePath(query.path, '/query/path'), query.before),
    })),
    handle(getAssetRevision, async ({ path, query }) => ({
      status: 200,
      json: await assetRevision(reader, path.repository, parsePath(query.path, '/query/path'), query.revision),
    })),
    handle(restoreAsset, async ({ path, body, caller }) => ({
      status: 200,
      json: await restore(parts, path.repository, { ...body, path: parsePath(body.path, '/path') }, actorOf(caller)),
    })),
    handle(getAssetContent, ({ path, query, headers, caller, request }) =>
      send(path.repository, parsePath(query.path, '/query/path'), downloadAsked({ headers, caller, request })),
    ),
    handle(getRaw, ({ path, headers, caller, request }) =>
      send(path.repository, parsePath(path.assetPath, '/path/assetPath'), downloadAsked({ headers, caller, request })),
    ),
    handle(putRaw, async ({ path, headers, body, caller }) => {
      const checksum = headers['x-checksum-sha256']
      const stored = await storeRaw(
        parts,
        { repository: path.repository, owner: actorOf(caller) },
        {
          path: parsePath(path.assetPath, '/path/assetPath'),
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
}
