import { serve } from '../../../content/serve/serve.ts'
import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { caseless } from '../../../kernel/names.ts'
import { positionOf } from './cursor.ts'
import { packagePage, toPackageVersion } from './listing.ts'
import { getPackageContent, listPackages, registerPackage, resolvePackage } from './operations.ts'
import { type RegistrationParts, registerPackage as register } from './registration.ts'
import { resolvePackage as resolve } from './resolve.ts'
import { stagesIn } from './stages.queries.ts'

export const packageHandlers = (parts: RegistrationParts): BoundOperation[] => {
  const { reader } = parts.database
  return [
    handle(registerPackage, async ({ path, caller }) => {
      const row = await register(parts, path.repository, path.id, actorOf(caller))
      return { status: 200, json: toPackageVersion(row, row.manifest) }
    }),
    handle(listPackages, async ({ path, query }) => {
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
    handle(resolvePackage, async ({ path, query }) => {
      const row = await resolve(reader, path.repository, query)
      return {
        status: 200,
        json: {
          group: row.group_name,
          name: row.name,
          version: row.version,
          artifactId: row.artifact_id,
          sha256: row.sha256,
          size: String(row.size),
          publishedAt: row.published_at,
          stagedAt: row.promoted_at,
          stages: stagesIn(row.stages),
        },
      }
    }),
    handle(getPackageContent, async ({ path, query, headers, caller, request }) => {
      const row = await resolve(reader, path.repository, query)
      return serve(
        parts,
        { digest: toSha256(row.sha256), bytes: row.size, name: row.file_name },
        downloadAsked({ headers, caller, request }),
        { 'x-svc-artifact-id': row.artifact_id, 'x-svc-package-version': row.version },
      )
    }),
  ]
}
