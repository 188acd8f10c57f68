import Type, { type TSchema } from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, inRepository, nullable, OpaqueCursor, pageLimit, text } from '../../../contract/schemas.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { npmNameMaxCharacters } from '../../../kernel/limits/npm.ts'
import { DeletedNpmVersion, NpmPackage, NpmVersion, OpenedNpmVersion, PackageName, Version } from './vocabulary.ts'

const base = '/api/v1/repositories/{repository}/npm'
const ofRepository = { surface: 'catalog', visibility: 'repository', pathParameters: inRepository } as const
const get = { ...ofRepository, method: 'GET', retry: 'read' } as const
const lists = { kind: 'repository', actions: ['artifact.list'] } as const

const paging = { after: Type.Optional(OpaqueCursor), limit: pageLimit }
const page = <S extends TSchema>(item: S) =>
  fields({ items: Type.Array(item, { maxItems: pageMax }), next: nullable(OpaqueCursor) })

export const listNpmPackages = defineOperation({
  ...get,
  id: 'listNpmPackages',
  path: `${base}/packages`,
  summary: 'List the npm packages of a repository, by name',
  access: lists,
  query: fields({ contains: Type.Optional(text(0, npmNameMaxCharacters)), ...paging }),
  responses: { 200: answers('A page. `latest` is the version that this tag is at', page(NpmPackage)) },
})

export const listNpmVersions = defineOperation({
  ...get,
  id: 'listNpmVersions',
  path: `${base}/versions`,
  summary: 'List the versions of an npm package, the newest first, with their tags',
  access: lists,
  query: fields({ package: PackageName, ...paging }),
  responses: { 200: answers('A page, in the order in which they came', page(NpmVersion)) },
})

export const listDeletedNpmVersions = defineOperation({
  ...get,
  id: 'listDeletedNpmVersions',
  path: `${base}/versions/deleted`,
  summary: 'List versions of an npm package that were deleted and can be brought back, and until when',
  access: lists,
  query: fields({ package: PackageName, ...paging }),
  responses: { 200: answers('A page, the newest first', page(DeletedNpmVersion)) },
})

export const getNpmVersion = defineOperation({
  ...get,
  id: 'getNpmVersion',
  path: `${base}/version`,
  summary: 'Get what is known of a version of an npm package: size, hashes, tags, dependencies, readme',
  access: { kind: 'repository', actions: ['artifact.read'] },
  query: fields({ package: PackageName, version: Version }),
  responses: { 200: answers('The version', OpenedNpmVersion) },
})

export const deleteNpmVersion = defineOperation({
  ...ofRepository,
  id: 'deleteNpmVersion',
  method: 'DELETE',
  path: `${base}/versions`,
  summary: 'Delete a version of an npm package; until the grace period is over it can be brought back',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  query: fields({ package: PackageName, version: Version }),
  responses: { 204: answersNothing('It is gone, with its tags; `latest` is at the newest version that is left') },
  failures: ['version_kept'],
})

export const restoreNpmVersion = defineOperation({
  ...ofRepository,
  id: 'restoreNpmVersion',
  method: 'POST',
  path: `${base}/versions/restore`,
  summary: 'Bring a deleted version of an npm package back, as whoever writes to the repository may',
  access: { kind: 'repository', actions: ['artifact.read', 'asset.restore'] },
  retry: 'idempotent',
  body: jsonBody(fields({ package: PackageName, version: Version })),
  responses: { 200: answers('The version, as it was', OpenedNpmVersion) },
})
