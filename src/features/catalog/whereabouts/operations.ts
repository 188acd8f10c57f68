import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { AssetPath, fields, nullable, pageLimit, Uuid } from '../../../contract/schemas.ts'
import { pageMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'

const ShowingPath = fields({ path: AssetPath, revision: Type.Integer({ minimum: 1, maximum: revisionMax }) })
const Version = fields({ group: Type.String(), name: Type.String(), version: Type.String() })

export const listArtifactPaths = defineOperation({
  id: 'listArtifactPaths',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/artifacts/{id}/paths',
  summary: 'List what leads to a file: paths that show it now, and the package version that it is',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['artifact.read', 'asset.read', 'package.read'] },
  retry: 'read',
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  query: fields({
    after: Type.Optional(Type.String({ pattern: patterns.opaqueCursor, description: 'the next of the page before' })),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      'A page of paths in UTF-8 byte order; `packages` has one item at most, the same on every page',
      fields({
        items: Type.Array(ShowingPath, { maxItems: pageMax }),
        next: nullable(Type.String()),
        packages: Type.Array(Version, { maxItems: 1 }),
      }),
    ),
  },
})
