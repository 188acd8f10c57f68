import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { ActorName, fields, nullable, Timestamp, Uuid } from '../../../contract/schemas.ts'
import {
  annotationHistoryPage,
  collectionsMax,
  expectedRevisionMax,
  revisionMax,
} from '../../../kernel/limits/catalog.ts'
import { Collection, Labels, Metadata } from '../artifacts/vocabulary.ts'

const path = '/api/v1/repositories/{repository}/artifacts/{id}/annotations'
const one = fields({ repository: Type.String(), id: Uuid })

const Collections = Type.Array(Collection, { maxItems: collectionsMax })

const Annotations = fields({
  revision: Type.Integer({ minimum: 0, maximum: revisionMax }),
  labels: Labels,
  metadata: Metadata,
  collections: Collections,
})

export const getAnnotations = defineOperation({
  id: 'getAnnotations',
  method: 'GET',
  path,
  summary: 'Read what is said of a file now',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['annotation.read'] },
  retry: 'read',
  pathParameters: one,
  responses: { 200: answers('Revision 0 shows labels and metadata of the upload', Annotations) },
})

export const putAnnotations = defineOperation({
  id: 'putAnnotations',
  method: 'PUT',
  path,
  summary: 'Replace what is said of a file',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['annotation.write', 'artifact.read'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  pathParameters: one,
  body: jsonBody(
    fields({
      expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }),
      value: fields({
        labels: Type.Optional(Labels),
        metadata: Type.Optional(Metadata),
        collections: Type.Optional(Collections),
      }),
    }),
  ),
  responses: { 200: answers('The new revision; what was left out is empty', Annotations) },
  failures: ['revision_mismatch'],
})

const Revision = Type.Integer({ minimum: 1, maximum: revisionMax })
const ListedAnnotations = fields({
  ...Annotations.properties,
  revision: Revision,
  actor: Type.String(),
  actorName: ActorName,
  createdAt: Timestamp,
})

export const listAnnotationHistory = defineOperation({
  id: 'listAnnotationHistory',
  method: 'GET',
  path: `${path}/history`,
  summary: 'List what was said of a file since its upload, newest first',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['annotation.read'] },
  retry: 'read',
  pathParameters: one,
  query: fields({ before: Type.Optional(Revision) }),
  responses: {
    200: answers(
      'Up to 20 of the last 100 revisions, as far as they are known; `next` is the `before` of the next page',
      fields({
        items: Type.Array(ListedAnnotations, { maxItems: annotationHistoryPage }),
        next: nullable(Revision),
      }),
    ),
  },
})
