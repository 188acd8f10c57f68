import Type from 'typebox'
import { answers, bytesBody, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, inRepository, nullable, Timestamp, text, Uuid } from '../../../contract/schemas.ts'
import { expectedRevisionMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import { lfsBodyBytesMax, subPathMaxCharacters } from '../../../kernel/limits/lfs.ts'
import { lfsMediaType } from '../vocabulary.ts'
import { LockAnswer, LockList, VerifiedLocks } from './vocabulary.ts'

const below = { repository: Type.String(), subPath: text(0, subPathMaxCharacters) }
const locks = {
  surface: 'transfers',
  visibility: 'repository',
  path: '/lfs/{repository}/{subPath+}/locks',
  pathParameters: fields(below),
} as const
const writes = { kind: 'repository', actions: ['asset.write'] } as const
const body = bytesBody(null, lfsBodyBytesMax)
/** Parameters that nobody knows are passed over. */
const nothingAsked = Type.Object({}, { additionalProperties: true })

export const createLfsLock = defineOperation({
  ...locks,
  id: 'createLfsLock',
  method: 'POST',
  summary: 'Lock a file of a Git repository',
  access: writes,
  retry: 'never-automatic',
  query: nothingAsked,
  body,
  responses: { 201: { description: 'It is locked', schema: LockAnswer, mediaType: lfsMediaType } },
  failures: ['already_exists', 'lock_limit'],
})

export const listLfsLocks = defineOperation({
  ...locks,
  id: 'listLfsLocks',
  method: 'GET',
  summary: 'List locked files of a Git repository, the newest lock first',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  query: Type.Object(
    {
      path: Type.Optional(Type.String()),
      id: Type.Optional(Type.String()),
      cursor: Type.Optional(Type.String()),
      limit: Type.Optional(Type.String()),
      refspec: Type.Optional(Type.String({ description: 'not looked at' })),
    },
    { additionalProperties: true },
  ),
  responses: { 200: { description: 'A page; `next_cursor` leads on', schema: LockList, mediaType: lfsMediaType } },
})

export const verifyLfsLocks = defineOperation({
  ...locks,
  id: 'verifyLfsLocks',
  method: 'POST',
  path: '/lfs/{repository}/{subPath+}/locks/verify',
  summary: 'List locked files by whether the lock is the caller’s, as clients do before a push',
  access: writes,
  openToReadTokens: false,
  retry: 'read',
  query: nothingAsked,
  body,
  responses: { 200: { description: 'A page of both', schema: VerifiedLocks, mediaType: lfsMediaType } },
})

export const removeLfsLock = defineOperation({
  ...locks,
  id: 'removeLfsLock',
  method: 'POST',
  path: '/lfs/{repository}/{subPath+}/locks/{id}/unlock',
  pathParameters: fields({ ...below, id: Type.Union([Uuid, Type.String()]) }),
  summary: 'Unlock a file, by `force` also one that another locked',
  access: writes,
  retry: 'idempotent',
  query: nothingAsked,
  body,
  responses: { 200: { description: 'It was locked so', schema: LockAnswer, mediaType: lfsMediaType } },
})

const LfsSettings = fields({
  revision: Type.Integer({ minimum: 0, maximum: revisionMax }),
  locking: Type.Boolean(),
  savedAt: nullable(Timestamp),
  actor: nullable(Type.String()),
})

const settings = {
  path: '/api/v1/repositories/{repository}/lfs/settings',
  surface: 'operations',
  visibility: 'repository',
  pathParameters: inRepository,
} as const

export const getLfsSettings = defineOperation({
  ...settings,
  id: 'getLfsSettings',
  method: 'GET',
  summary: 'Read whether files can be locked by Git LFS',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  responses: { 200: answers('The setting; a repository begins with locks', LfsSettings) },
})

export const putLfsSettings = defineOperation({
  ...settings,
  id: 'putLfsSettings',
  method: 'PUT',
  summary: 'Say whether files can be locked by Git LFS; where they cannot, locks that are there stay unseen',
  access: { kind: 'repository', actions: ['storage.manage'] },
  retry: 'compare-and-swap',
  body: jsonBody(
    fields({
      expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }),
      locking: Type.Boolean(),
    }),
  ),
  responses: { 200: answers('The setting as it was saved', LfsSettings) },
  failures: ['revision_mismatch'],
})
