import Type from 'typebox'
import { answers, defineOperation, jsonBody } from '../../../contract/define.ts'
import { DownloadHeaders, downloadResponses } from '../../../contract/download.ts'
import {
  AssetPath,
  fields,
  inRepository,
  MediaType,
  nullable,
  OpaqueCursor,
  pageLimit,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import {
  assetHistoryPage,
  assetPathMaxCharacters,
  expectedRevisionMax,
  revisionsForgotten,
} from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'
import { AssetView, ListedAsset, ListedRevision, Revision, RevisionView } from './vocabulary.ts'

const base = '/api/v1/repositories/{repository}'
const read = { surface: 'catalog', visibility: 'repository', retry: 'read' } as const
const Prefix = Type.Optional(text(0, assetPathMaxCharacters))

export const listAssets = defineOperation({
  ...read,
  id: 'listAssets',
  method: 'GET',
  path: `${base}/assets`,
  summary: 'List file paths under a prefix',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ prefix: Prefix }),
  responses: {
    200: answers('Up to 1,000 paths in order', fields({ items: Type.Array(AssetView, { maxItems: 1000 }) })),
  },
})

export const listAssetPage = defineOperation({
  ...read,
  id: 'listAssetPage',
  method: 'GET',
  path: `${base}/assets/page`,
  summary: 'List file paths under a prefix, page by page',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({
    prefix: Prefix,
    after: Type.Optional(Type.String({ pattern: patterns.opaqueCursor, description: 'the next of the page before' })),
    limit: pageLimit,
    delimiter: Type.Optional(Type.Literal('/', { description: '/' })),
  }),
  responses: {
    200: answers(
      'A page in UTF-8 byte order. With a delimiter, what lies in folders below the prefix is left out and `folders` names them; both together are a page',
      fields({
        items: Type.Array(ListedAsset, { maxItems: 100 }),
        folders: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
        next: nullable(Type.String()),
      }),
    ),
  },
})

export const listRemovedPaths = defineOperation({
  ...read,
  id: 'listRemovedPaths',
  method: 'GET',
  path: `${base}/assets/removed`,
  summary: 'List paths that were removed, and which revision of each can be restored',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ prefix: Prefix, after: Type.Optional(OpaqueCursor), limit: pageLimit }),
  responses: {
    200: answers(
      'A page in UTF-8 byte order. `revision` is the one that removed the path, `restorableRevision` what it showed before; null where that was forgotten',
      fields({
        items: Type.Array(
          fields({
            path: AssetPath,
            revision: Revision,
            removedAt: Timestamp,
            restorableRevision: nullable(Revision),
          }),
          { maxItems: 100 },
        ),
        next: nullable(OpaqueCursor),
      }),
    ),
  },
})

export const getAsset = defineOperation({
  ...read,
  id: 'getAsset',
  method: 'GET',
  path: `${base}/asset`,
  summary: 'Read the current revision of a path',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ path: AssetPath }),
  responses: { 200: answers('The revision', AssetView) },
})

export const putAsset = defineOperation({
  id: 'putAsset',
  method: 'PUT',
  path: `${base}/asset`,
  summary: 'Point a path at a published file',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['asset.write', 'artifact.read'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  pathParameters: inRepository,
  body: jsonBody(
    fields({
      path: AssetPath,
      artifactId: Uuid,
      expectedRevision: Type.Integer({ minimum: 0, maximum: expectedRevisionMax }),
      mediaType: Type.Optional(MediaType),
    }),
  ),
  responses: { 200: answers('The new revision', AssetView) },
  failures: ['revision_mismatch'],
})

export const listAssetHistory = defineOperation({
  ...read,
  id: 'listAssetHistory',
  method: 'GET',
  path: `${base}/asset/history`,
  summary: 'List the revisions of a path, newest first',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ path: AssetPath, before: Type.Optional(Revision) }),
  responses: {
    200: answers(
      'A page; `next` is the `before` of the next one',
      fields({ items: Type.Array(ListedRevision, { maxItems: assetHistoryPage }), next: nullable(Revision) }),
    ),
  },
})

export const getAssetRevision = defineOperation({
  ...read,
  id: 'getAssetRevision',
  method: 'GET',
  path: `${base}/asset/revision`,
  summary: 'Read one revision of a path',
  access: { kind: 'repository', actions: ['asset.read'] },
  pathParameters: inRepository,
  query: fields({ path: AssetPath, revision: Revision }),
  responses: { 200: answers('The revision, with who made it and when', RevisionView) },
})

export const restoreAsset = defineOperation({
  id: 'restoreAsset',
  method: 'POST',
  path: `${base}/asset/restore`,
  summary: 'Make an old revision of a path the newest again',
  surface: 'catalog',
  visibility: 'repository',
  access: { kind: 'repository', actions: ['asset.restore', 'asset.read', 'artifact.read'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  pathParameters: inRepository,
  body: jsonBody(
    fields({
      path: AssetPath,
      sourceRevision: Revision,
      expectedRevision: Type.Integer({ minimum: 1, maximum: expectedRevisionMax }),
    }),
  ),
  responses: { 200: answers('The new revision, which shows the file of the old one', RevisionView) },
  failures: ['revision_mismatch'],
})

const ofPath = { surface: 'catalog', visibility: 'repository', pathParameters: inRepository } as const

export const removeAsset = defineOperation({
  ...ofPath,
  id: 'removeAsset',
  method: 'DELETE',
  path: `${base}/asset`,
  summary: 'End a path: it shows nothing any more, and can be restored',
  access: { kind: 'repository', actions: ['asset.write'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  body: jsonBody(
    fields({ path: AssetPath, expectedRevision: Type.Integer({ minimum: 1, maximum: expectedRevisionMax }) }),
  ),
  responses: { 200: answers('The revision that says so', RevisionView) },
  failures: ['revision_mismatch'],
})

export const forgetAssetRevisions = defineOperation({
  ...ofPath,
  id: 'forgetAssetRevisions',
  method: 'POST',
  path: `${base}/asset/forget`,
  summary: 'Forget the oldest revisions of a path for good, so that they keep their files no more',
  access: { kind: 'repository', actions: ['asset.write', 'artifact.delete'] },
  retry: 'idempotent',
  conditions: ['resource-state'],
  body: jsonBody(fields({ path: AssetPath, through: Revision })),
  responses: {
    200: answers(
      `Up to ${revisionsForgotten} revisions, oldest first, are forgotten; ask again until it is \`done\``,
      fields({
        path: AssetPath,
        forgotten: Type.Integer({ minimum: 0, maximum: revisionsForgotten }),
        oldestRevision: nullable(Revision),
        done: Type.Boolean(),
      }),
    ),
  },
  failures: ['revision_mismatch'],
})

export const getAssetContent = defineOperation({
  ...read,
  id: 'getAssetContent',
  method: 'GET',
  path: `${base}/asset/content`,
  summary: 'Download the file that a path shows now',
  surface: 'transfers',
  access: { kind: 'repository', actions: ['content.read'] },
  download: true,
  pathParameters: inRepository,
  query: fields({ path: AssetPath }),
  headers: DownloadHeaders,
  responses: downloadResponses,
})
