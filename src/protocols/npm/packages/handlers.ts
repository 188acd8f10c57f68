import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Queries } from '../../../database/database.ts'
import { pageWithActorNames, withActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { createGate } from '../../../kernel/gate.ts'
import { npmSearchesAtOnce } from '../../../kernel/limits/npm.ts'
import type { ChangingDeps } from '../changing.ts'
import type { PackageName } from '../reading.ts'
import { versionUnknown } from '../refusals.ts'
import { restoreVersion, unpublishVersion } from '../unpublishing.ts'
import { deletedVersionsOf, type KeepingDeps, openVersion, packagesOf, pageAsked, versionsOf } from './listing.ts'
import * as operations from './operations.ts'

const opened = async (q: Queries, here: PackageName, version: string) => {
  const [told] = await withActorNames(q, [await openVersion(q, here, version)])
  if (told === undefined) throw versionUnknown(here.name, version)
  return told
}

export const npmPackageHandlers = (deps: ChangingDeps & KeepingDeps): BoundOperation[] => {
  const { reader } = deps.database
  const searching = createGate(npmSearchesAtOnce)
  return [
    handle(operations.listNpmPackages, async ({ path, query }) => {
      const { contains: part = '' } = query
      const page = () => packagesOf(reader, path.repository, { ...pageAsked(query), part })
      return { status: 200, json: part === '' ? await page() : await searching(page) }
    }),
    handle(operations.listNpmVersions, async ({ path, query }) => {
      const here = { repository: path.repository, name: query.package }
      return { status: 200, json: await pageWithActorNames(reader, await versionsOf(reader, here, pageAsked(query))) }
    }),
    handle(operations.listDeletedNpmVersions, async ({ path, query }) => {
      const here = { repository: path.repository, name: query.package }
      const page = await deletedVersionsOf(deps, here, pageAsked(query))
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.getNpmVersion, async ({ path, query }) => ({
      status: 200,
      json: await opened(reader, { repository: path.repository, name: query.package }, query.version),
    })),
    handle(operations.deleteNpmVersion, async ({ path, query: { package: name, version }, caller }) => {
      await unpublishVersion(deps, { repository: path.repository, name, owner: actorOf(caller) }, version)
      return { status: 204, json: null }
    }),
    handle(operations.restoreNpmVersion, async ({ path, body, caller }) => {
      const here = { repository: path.repository, name: body.package }
      await restoreVersion(deps, { ...here, owner: actorOf(caller) }, body.version)
      return { status: 200, json: await opened(reader, here, body.version) }
    }),
  ]
}
