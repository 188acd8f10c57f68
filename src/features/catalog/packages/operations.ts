import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../../contract/download.ts'
import {
  ByteCount,
  fields,
  inRepository,
  nullable,
  oneOf,
  pageLimit,
  Sha256Text,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import { pageMax, stagesPerArtifactMax } from '../../../kernel/limits/catalog.ts'
import {
  packageGroupMaxCharacters,
  packageNameMaxCharacters,
  packageRangeMaxCharacters,
  packageVersionMaxCharacters,
} from '../../../kernel/limits/packages.ts'
import { patterns } from '../../../kernel/names.ts'

const base = '/api/v1/repositories/{repository}'
const common = { surface: 'catalog', visibility: 'repository', method: 'GET', retry: 'read' } as const

const Group = text(0, packageGroupMaxCharacters)
const Name = text(1, packageNameMaxCharacters)
const VersionText = text(1, packageVersionMaxCharacters)
const Stage = Type.String({
  pattern: patterns.stage,
  description: '1 to 32 lowercase letters, digits, _ . or -, beginning with a letter or digit',
})

const packageVersion = {
  group: Group,
  name: Name,
  version: VersionText,
  artifactId: Uuid,
  manifest: Type.Record(Type.String(), Type.Unknown()),
}
const PackageVersion = fields(packageVersion)
const ListedVersion = fields({
  ...packageVersion,
  size: ByteCount,
  publishedAt: Timestamp,
  stages: Type.Array(Stage, { maxItems: stagesPerArtifactMax }),
})

export const registerPackage = defineOperation({
  ...common,
  id: 'registerPackage',
  method: 'POST',
  path: `${base}/artifacts/{id}/package`,
  summary: 'Make a published file the package version that the upack.json in it names',
  access: { kind: 'repository', actions: ['package.publish', 'artifact.read'] },
  retry: 'idempotent',
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
  responses: { 200: answers('The package version', PackageVersion) },
  failures: ['invalid_request', 'version_exists', 'busy'],
})

export const listPackages = defineOperation({
  ...common,
  id: 'listPackages',
  path: `${base}/packages`,
  summary: 'List package versions',
  access: { kind: 'repository', actions: ['package.read'] },
  pathParameters: inRepository,
  query: fields({
    group: Type.Optional(Group),
    name: Type.Optional(Name),
    sort: Type.Optional(oneOf(['group', 'name', 'version'])),
    direction: Type.Optional(oneOf(['asc', 'desc'])),
    groupBy: Type.Optional(oneOf(['none', 'group', 'package'])),
    after: Type.Optional(Type.String({ pattern: patterns.opaqueCursor, description: 'the next of a page' })),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      'A page; one with long manifests may be short and still have a `next`',
      fields({
        items: Type.Array(ListedVersion, { maxItems: pageMax }),
        next: nullable(Type.String()),
        groups: Type.Array(
          fields({ group: Group, name: nullable(Name), artifactIds: Type.Array(Uuid, { maxItems: pageMax }) }),
          { maxItems: pageMax },
        ),
      }),
    ),
  },
})

const Selection = fields({
  name: Name,
  group: Type.Optional(Group),
  version: Type.Optional(VersionText),
  range: Type.Optional(text(0, packageRangeMaxCharacters)),
  stage: Type.Optional(Stage),
  prerelease: Type.Optional(oneOf(['true', 'false'])),
  order: Type.Optional(oneOf(['version', 'promoted'])),
})

export const resolvePackage = defineOperation({
  ...common,
  id: 'resolvePackage',
  path: `${base}/packages/resolve`,
  summary: 'Choose a package version by name, version, range and stage',
  access: { kind: 'repository', actions: ['package.read'] },
  pathParameters: inRepository,
  query: Selection,
  responses: {
    200: answers(
      'The version that was chosen; `stagedAt` says when it reached the stage that was asked for',
      fields({
        group: Group,
        name: Name,
        version: VersionText,
        artifactId: Uuid,
        sha256: Sha256Text,
        size: ByteCount,
        publishedAt: Timestamp,
        stagedAt: nullable(Timestamp),
        stages: Type.Array(Stage, { maxItems: stagesPerArtifactMax }),
      }),
    ),
  },
})

export const getPackageContent = defineOperation({
  ...common,
  id: 'getPackageContent',
  path: `${base}/packages/content`,
  summary: 'Download the package version that a selection chooses',
  surface: 'transfers',
  access: { kind: 'repository', actions: ['content.read'] },
  download: true,
  pathParameters: inRepository,
  query: Selection,
  headers: DownloadHeaders,
  responses: downloadResponses,
})
