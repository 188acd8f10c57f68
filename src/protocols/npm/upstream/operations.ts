import Type, { type TSchema } from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import {
  ByteCount,
  fields,
  inRepository,
  nullable,
  OpaqueCursor,
  pageLimit,
  RepositoryId,
  text,
} from '../../../contract/schemas.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { npmNameMaxCharacters } from '../../../kernel/limits/npm.ts'
import { Version } from '../packages/vocabulary.ts'
import {
  CachedName,
  CachedNpmPackage,
  CachedNpmVersion,
  FreshSeconds,
  NpmUpstream,
  Reserved,
  UpstreamUrl,
} from './vocabulary.ts'

const path = '/api/v1/repositories/{repository}/npm-upstream'
const setting = {
  path,
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  pathParameters: fields({ repository: RepositoryId }),
} as const
const ifMatch = Type.Optional(Type.String({ description: '* or ETags, one of which the setting has' }))
const etag = { ETag: 'Calls this state of the setting' } as const

export const getNpmUpstream = defineOperation({
  ...setting,
  id: 'getNpmUpstream',
  method: 'GET',
  summary: 'Read to which registry a repository of npm packages looks through',
  retry: 'read',
  responses: { 200: answers('The setting; credentials stand in a file and are never told', NpmUpstream, etag) },
  failures: ['not_found'],
})

export const putNpmUpstream = defineOperation({
  ...setting,
  id: 'putNpmUpstream',
  method: 'PUT',
  summary: 'Let a repository of npm packages look through to another registry, for names that it does not have itself',
  retry: 'idempotent',
  conditions: ['resource-state'],
  headers: fields({
    'if-match': ifMatch,
    'if-none-match': Type.Optional(
      Type.String({ pattern: '^\\*$', description: '* (only where there is no upstream yet)' }),
    ),
  }),
  body: jsonBody(
    fields({ url: UpstreamUrl, reserved: Type.Optional(Reserved), freshSeconds: Type.Optional(FreshSeconds) }),
  ),
  responses: { 200: answers('The setting as it was saved', NpmUpstream, etag) },
  failures: ['not_found', 'precondition_failed'],
})

export const deleteNpmUpstream = defineOperation({
  ...setting,
  id: 'deleteNpmUpstream',
  method: 'DELETE',
  summary: 'Let a repository look through to another registry no more; what came from there is kept, unserved',
  retry: 'idempotent',
  conditions: ['resource-state'],
  headers: fields({ 'if-match': ifMatch }),
  responses: { 204: answersNothing('It has no upstream any more') },
  failures: ['not_found', 'precondition_failed'],
})

const lists = {
  surface: 'catalog',
  visibility: 'repository',
  method: 'GET',
  retry: 'read',
  access: { kind: 'repository', actions: ['artifact.list'] },
  pathParameters: inRepository,
} as const
const paging = { after: Type.Optional(OpaqueCursor), limit: pageLimit }
const page = <S extends TSchema>(item: S) =>
  fields({ items: Type.Array(item, { maxItems: pageMax }), next: nullable(OpaqueCursor) })

export const listCachedNpmPackages = defineOperation({
  ...lists,
  id: 'listCachedNpmPackages',
  path: `${path}/packages`,
  summary: 'List the npm packages that came from the upstream of a repository, by name',
  query: fields({ contains: Type.Optional(text(0, npmNameMaxCharacters)), ...paging }),
  responses: { 200: answers('A page', page(CachedNpmPackage)) },
})

export const listCachedNpmVersions = defineOperation({
  ...lists,
  id: 'listCachedNpmVersions',
  path: `${path}/versions`,
  summary: 'List the versions of an npm package whose tarballs came from the upstream and are kept',
  query: fields({ package: CachedName, ...paging }),
  responses: { 200: answers('A page, in the order of their texts', page(CachedNpmVersion)) },
})

export const dropCachedNpmPackages = defineOperation({
  id: 'dropCachedNpmPackages',
  method: 'DELETE',
  path: `${path}/packages`,
  summary: 'Drop what came from the upstream: a version, a package, or, where none is named, all of it',
  surface: 'administration',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  retry: 'idempotent',
  pathParameters: fields({ repository: RepositoryId }),
  query: fields({ package: Type.Optional(CachedName), version: Type.Optional(Version) }),
  responses: {
    200: answers(
      'How much went; what is asked for again is fetched anew',
      fields({ packages: Type.Integer({ minimum: 0 }), tarballs: Type.Integer({ minimum: 0 }), bytes: ByteCount }),
    ),
  },
  failures: ['not_found'],
})
