import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { pageWithActorNames, withActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { invalid } from '../../../kernel/failure.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { mediaTypeWanted, saidMediaType } from '../../../kernel/media-types.ts'
import { type AssetDeps, assetPage, assetsUnder, currentAsset, parsePath, setAsset } from './assets.ts'
import { type PathDeps, servePath } from './content.ts'
import { folderPage } from './folders.ts'
import { forgetRevisions } from './forgetting.ts'
import { assetHistory, assetRevision, restoreAsset } from './history.ts'
import * as operations from './operations.ts'
import { noPreconditions } from './preconditions.ts'
import { removePath } from './removal.ts'
import { removedPaths } from './removed.ts'

export const assetHandlers = (deps: AssetDeps & PathDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.listAssets, async ({ path, query }) => ({
      status: 200,
      json: { items: await assetsUnder(reader, path.repository, query.prefix ?? '') },
    })),
    handle(operations.listAssetPage, async ({ path, query }) => {
      const page = { prefix: query.prefix ?? '', after: query.after, limit: query.limit ?? pageDefault }
      if (query.delimiter === undefined) return { status: 200, json: await assetPage(reader, path.repository, page) }
      const { items, ...rest } = await folderPage(reader, path.repository, page)
      return { status: 200, json: { items: await withActorNames(reader, items), ...rest } }
    }),
    handle(operations.listRemovedPaths, async ({ path, query }) => {
      const page = { prefix: query.prefix ?? '', after: query.after, limit: query.limit ?? pageDefault }
      return { status: 200, json: await removedPaths(reader, path.repository, page) }
    }),
    handle(operations.getAsset, async ({ path, query }) => ({
      status: 200,
      json: await currentAsset(reader, path.repository, parsePath(query.path, '/query/path')),
    })),
    handle(operations.putAsset, async ({ path, body, caller }) => {
      const said = saidMediaType(body.mediaType)
      if (said === 'malformed') throw invalid('/mediaType', `must be ${mediaTypeWanted}`)
      const wanted = { ...body, path: parsePath(body.path, '/path'), mediaType: said.kept }
      return { status: 200, json: await setAsset(deps, path.repository, wanted, actorOf(caller)) }
    }),
    handle(operations.listAssetHistory, async ({ path, query }) => ({
      status: 200,
      json: await pageWithActorNames(
        reader,
        await assetHistory(reader, path.repository, parsePath(query.path, '/query/path'), query.before),
      ),
    })),
    handle(operations.getAssetRevision, async ({ path, query }) => ({
      status: 200,
      json: await assetRevision(reader, path.repository, parsePath(query.path, '/query/path'), query.revision),
    })),
    handle(operations.restoreAsset, async ({ path, body, caller }) => ({
      status: 200,
      json: await restoreAsset(
        deps,
        path.repository,
        { ...body, path: parsePath(body.path, '/path') },
        actorOf(caller),
      ),
    })),
    handle(operations.removeAsset, async ({ path, body, caller }) => {
      const unwanted = { ...body, path: parsePath(body.path, '/path'), expects: noPreconditions }
      return { status: 200, json: await removePath(deps, path.repository, unwanted, actorOf(caller)) }
    }),
    handle(operations.forgetAssetRevisions, async ({ path, body, caller }) => {
      const unwanted = { ...body, path: parsePath(body.path, '/path') }
      return { status: 200, json: await forgetRevisions(deps, path.repository, unwanted, actorOf(caller)) }
    }),
    handle(operations.getAssetContent, ({ path, query, headers, caller, request }) =>
      servePath(
        deps,
        { repository: path.repository, path: parsePath(query.path, '/query/path') },
        caller,
        downloadAsked({ headers, caller, request }),
      ),
    ),
  ]
}
