import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Queries } from '../../../database/database.ts'
import { repositoryWith } from '../../../features/catalog/repositories/repositories.ts'
import { actorFrom } from '../../../journal/actor.ts'
import { pageWithActorNames, withActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { notFound } from '../../../kernel/failure.ts'
import type { ChangingDeps } from '../changing.ts'
import { pageAsked } from '../packages/listing.ts'
import { dropCached } from './dropping.ts'
import { cachedPackagesOf, cachedVersionsOf } from './listing.ts'
import * as operations from './operations.ts'
import { deleteUpstream, etagOf, getUpstream, putUpstream, type UpstreamSetting } from './setting.ts'

/** A setting as it is answered, and what calls its state. */
const answerOf = async (q: Queries, setting: UpstreamSetting) => {
  const { revision: _, reserved, ...rest } = setting
  const [told] = await withActorNames(q, [{ ...rest, reserved: [...reserved] }])
  if (told === undefined) throw notFound('repository with an upstream')
  return { status: 200, headers: { etag: etagOf(setting), 'cache-control': 'private, no-cache' }, json: told } as const
}

export const npmUpstreamHandlers = (deps: ChangingDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.getNpmUpstream, async ({ path }) => answerOf(reader, await getUpstream(reader, path.repository))),
    handle(operations.putNpmUpstream, async (input) => {
      const { path, body, headers } = input
      const expected = { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }
      return answerOf(reader, await putUpstream(deps, path.repository, body, expected, actorFrom(input)))
    }),
    handle(operations.deleteNpmUpstream, async (input) => {
      const { path, headers } = input
      await deleteUpstream(deps, path.repository, { ifMatch: headers['if-match'] }, actorFrom(input))
      return { status: 204, json: null }
    }),
    handle(operations.listCachedNpmPackages, async ({ path, query }) => ({
      status: 200,
      json: await cachedPackagesOf(reader, path.repository, { ...pageAsked(query), part: query.contains ?? '' }),
    })),
    handle(operations.listCachedNpmVersions, async ({ path, query }) => {
      const here = { repository: path.repository, name: query.package }
      return {
        status: 200,
        json: await pageWithActorNames(reader, await cachedVersionsOf(reader, here, pageAsked(query))),
      }
    }),
    handle(operations.dropCachedNpmPackages, async ({ path, query, caller }) => {
      if ((await repositoryWith(reader, path.repository)) === null) throw notFound('repository')
      const unwanted = { repository: path.repository, name: query.package, version: query.version }
      const { packages, tarballs, bytes } = await dropCached(deps, unwanted, actorOf(caller))
      return { status: 200, json: { packages, tarballs, bytes: String(bytes) } }
    }),
  ]
}
