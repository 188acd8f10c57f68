import Type, { type TSchema } from 'typebox'
import { answers, answersNothing, defineOperation } from '../../../contract/define.ts'
import {
  ActorName,
  ByteCount,
  fields,
  IdCursor,
  inRepository,
  nullable,
  OpaqueCursor,
  OrderOfTime,
  pageLimit,
  Timestamp,
} from '../../../contract/schemas.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { Oid } from '../vocabulary.ts'

const base = '/api/v1/repositories/{repository}/lfs/objects'
const ofRepository = { surface: 'catalog', visibility: 'repository', pathParameters: inRepository } as const
const ofObject = { ...ofRepository, pathParameters: fields({ repository: Type.String(), oid: Oid }) } as const

const object = {
  oid: Oid,
  size: ByteCount,
  pushedAt: Timestamp,
  usedAt: Timestamp,
  actor: Type.String(),
  actorName: ActorName,
}
const LfsObject = fields(object)
const DeletedLfsObject = fields({ ...object, deletedAt: Timestamp, restorableUntil: Timestamp })

const page = <S extends TSchema, C extends TSchema>(item: S, cursor: C) =>
  fields({ items: Type.Array(item, { maxItems: pageMax }), next: nullable(cursor) })

export const listLfsObjects = defineOperation({
  ...ofRepository,
  id: 'listLfsObjects',
  method: 'GET',
  path: base,
  summary: 'List the objects of Git LFS in a repository: how large each is, who pushed it, and when it was last used',
  access: { kind: 'repository', actions: ['artifact.list'] },
  retry: 'read',
  query: fields({ order: OrderOfTime, after: Type.Optional(IdCursor), limit: pageLimit }),
  responses: {
    200: answers(
      'A page by the time of the push. `usedAt` is when a client last asked for it, or had it to push, to the hour',
      page(LfsObject, IdCursor),
    ),
  },
})

export const deleteLfsObject = defineOperation({
  ...ofObject,
  id: 'deleteLfsObject',
  method: 'DELETE',
  path: `${base}/{oid}`,
  summary: 'Delete an object of Git LFS; it can be brought back until the grace period is over',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  responses: { 204: answersNothing('It is gone for clients') },
})

export const listDeletedLfsObjects = defineOperation({
  ...ofRepository,
  id: 'listDeletedLfsObjects',
  method: 'GET',
  path: '/api/v1/repositories/{repository}/lfs/deleted-objects',
  summary: 'List deleted objects of Git LFS that can still be brought back',
  access: { kind: 'repository', actions: ['artifact.list', 'asset.restore'] },
  retry: 'read',
  query: fields({ order: OrderOfTime, after: Type.Optional(OpaqueCursor), limit: pageLimit }),
  responses: {
    200: answers(
      'A page by the time of their deletion; each can surely be brought back until `restorableUntil`',
      page(DeletedLfsObject, OpaqueCursor),
    ),
  },
})

export const restoreLfsObject = defineOperation({
  ...ofObject,
  id: 'restoreLfsObject',
  method: 'POST',
  path: '/api/v1/repositories/{repository}/lfs/deleted-objects/{oid}/restore',
  summary: 'Bring a deleted object of Git LFS back',
  access: { kind: 'repository', actions: ['artifact.list', 'asset.restore'] },
  retry: 'idempotent',
  responses: { 200: answers('The object, as it was', LfsObject) },
})
