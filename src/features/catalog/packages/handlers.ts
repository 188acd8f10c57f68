import { serve } from '../../../content/serve/serve.ts'
import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { caseless } from '../../../kernel/names.ts'
import { positionOf } from './cursor.ts'
import { packagePage } from './listing.ts'
import * as operations from './operations.ts'
import { type RegistrationDeps, registerPackage } from './registration.ts'
import { resolvePackage } from './resolve.ts'
import { toPackageVersion, toResolution } from './views.ts'

export const packageHandlers = (deps: RegistrationDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.registerPackage, async ({ path, caller }) => {
      const row = await registerPackage(deps, path.repository, path.id, actorOf(caller))
      return { status: 200, json: toPackageVersion(row, row.manifest) }
    }),
    handle(operations.listPackages, async ({ path, query }) => {
      const listing = {
        repository: path.repository,
        order: query.sort ?? 'group',
        descending: query.direction === 'desc',
        groupKey: query.group === undefined ? null : caseless(query.group),
        nameKey: query.name === undefined ? null : caseless(query.name),
      }
      const after = query.after === undefined ? null : positionOf(listing, query.after)
      const page = { ...listing, after, limit: query.limit ?? pageDefault }
      return { status: 200, json: await packagePage(reader, page, query.groupBy ?? 'none') }
    }),
    handle(operations.resolvePackage, async ({ path, query }) => {
      const row = await resolvePackage(reader, path.repository, query)
      return { status: 200, json: toResolution(row) }
    }),
    handle(operations.getPackageContent, async ({ path, query, headers, caller, request }) => {
      const row = await resolvePackage(reader, path.repository, query)
      return serve(
        deps,
        { digest: toSha256(row.sha256), bytes: row.size, name: row.file_name },
        downloadAsked({ headers, caller, request }),
        { 'x-svc-artifact-id': row.artifact_id, 'x-svc-package-version': row.version },
      )
    }),
  ]
}
