import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { ActorName, fields, nullable, oneOf, Timestamp, text, Uuid } from '../../../contract/schemas.ts'
import {
  attachmentDescriptionMaxCharacters,
  attachmentHistoryPage,
  attachmentNameMaxCharacters,
  attachmentsMax,
  expectedRevisionMax,
  revisionMax,
} from '../../../kernel/limits/catalog.ts'
import { attachmentKinds } from './vocabulary.ts'

const shared = {
  path: '/api/v1/repositories/{repository}/artifacts/{id}/attachments',
  surface: 'catalog',
  visibility: 'repository',
  pathParameters: fields({ repository: Type.String(), id: Uuid }),
} as const

const item = {
  name: text(1, attachmentNameMaxCharacters),
  kind: oneOf(attachmentKinds),
  artifactId: Uuid,
}
const Description = text(0, attachmentDescriptionMaxCharacters)

const attachments = {
  revision: Type.Integer({ minimum: 0, maximum: revisionMax }),
  items: Type.Array(fields({ ...item, description: Description }), { maxItems: attachmentsMax }),
  actor: nullable(Type.String()),
  createdAt: nullable(Timestamp),
}
const AttachmentsView = fields(attachments)
const ListedAttachments = fields({ ...attachments, actorName: ActorName })

export const getAttachments = defineOperation({
  ...shared,
  id: 'getAttachments',
  method: 'GET',
  summary: 'Read what is attached to a build',
  access: { kind: 'repository', actions: ['annotation.read'] },
  retry: 'read',
  responses: { 200: answers('The current attachments; revision 0 where nothing ever was attached', AttachmentsView) },
})

export const putAttachments = defineOperation({
  ...shared,
  id: 'putAttachments',
  method: 'PUT',
  summary: 'Replace what is attached to a build',
  access: { kind: 'repository', actions: ['annotation.write', 'artifact.read'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  body: jsonBody(
    fields({
      expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }),
      items: Type.Array(fields({ ...item, description: Type.Optional(Description) }), { maxItems: attachmentsMax }),
    }),
  ),
  responses: { 200: answers('The new attachments', AttachmentsView) },
  failures: ['revision_mismatch'],
})

const Revision = Type.Integer({ minimum: 1, maximum: revisionMax })

export const listAttachmentHistory = defineOperation({
  ...shared,
  id: 'listAttachmentHistory',
  method: 'GET',
  path: `${shared.path}/history`,
  summary: 'List what was attached to a build, newest first',
  access: { kind: 'repository', actions: ['annotation.read'] },
  retry: 'read',
  query: fields({ before: Type.Optional(Revision) }),
  responses: {
    200: answers(
      'Up to 20 revisions; `next` is the `before` of the next page',
      fields({
        items: Type.Array(ListedAttachments, { maxItems: attachmentHistoryPage }),
        next: nullable(Revision),
      }),
    ),
  },
})
