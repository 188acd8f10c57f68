import Type, { type TSchema } from 'typebox'
import { answers, answersNothing, defineOperation, jsonBody } from '../../../contract/define.ts'
import { fields, inRepository, nullable, OpaqueCursor, oneOf, pageLimit, text } from '../../../contract/schemas.ts'
import { pageMax, revisionMax } from '../../../kernel/limits/catalog.ts'
import {
  artifactTypesMax,
  imageNameMaxCharacters,
  ociMediaTypeMaxCharacters,
  tagMovesMax,
} from '../../../kernel/limits/oci.ts'
import { DigestText, ImageName, Reference, TagName } from '../vocabulary.ts'
import { Image, OpenedManifest, Referrer, RemovedTag, Tag, TagMove } from './vocabulary.ts'

const base = '/api/v1/repositories/{repository}/images'
const ofRepository = { surface: 'catalog', visibility: 'repository', pathParameters: inRepository } as const
const get = { ...ofRepository, method: 'GET', retry: 'read' } as const
const lists = { kind: 'repository', actions: ['artifact.list'] } as const
const reads = { kind: 'repository', actions: ['artifact.read'] } as const

const paging = { after: Type.Optional(OpaqueCursor), limit: pageLimit }
/** Of a name, whatever its case. */
const contains = Type.Optional(text(0, imageNameMaxCharacters))

const page = <S extends TSchema>(item: S) =>
  fields({ items: Type.Array(item, { maxItems: pageMax }), next: nullable(OpaqueCursor) })

export const listRepositoryImages = defineOperation({
  ...get,
  id: 'listRepositoryImages',
  path: base,
  summary: 'List the images of a repository, with how many tags and manifests each has',
  access: lists,
  query: fields({ contains, ...paging }),
  responses: {
    200: answers(
      'A page by name. With `contains` go on while there is a `next`, also after a page that is short or empty',
      page(Image),
    ),
  },
})

export const listImageTags = defineOperation({
  ...get,
  id: 'listImageTags',
  path: `${base}/tags`,
  summary: 'List the tags of an image: where each is, how much it leads to, for which platforms, and who moved it',
  access: lists,
  query: fields({ image: ImageName, contains, order: Type.Optional(oneOf(['name', 'newest'])), ...paging }),
  responses: {
    200: answers(
      'A page by name, or by the time of the last move, the newest first. `contentSize` is that of config and layers, each once; of an index, of all that it lists. With `contains` go on while there is a `next`, also after a page that is short or empty',
      page(Tag),
    ),
  },
})

export const listRemovedTags = defineOperation({
  ...get,
  id: 'listRemovedTags',
  path: `${base}/tags/removed`,
  summary: 'List tags of an image that were taken away and can be put back, and until when',
  access: lists,
  query: fields({ image: ImageName, ...paging }),
  responses: {
    200: answers(
      'A page, the newest first; go on while there is a `next`, also after a page that is short or empty. `keptUntil` is null while something else keeps the manifest',
      page(RemovedTag),
    ),
  },
})

export const setImageTag = defineOperation({
  ...ofRepository,
  id: 'setImageTag',
  method: 'PUT',
  path: `${base}/tags`,
  summary: 'Move a tag to a manifest of its image, or put it back',
  access: { kind: 'repository', actions: ['asset.write', 'artifact.read'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  body: jsonBody(
    fields({
      image: ImageName,
      tag: TagName,
      digest: DigestText,
      expectedDigest: Type.Optional(nullable(DigestText)),
    }),
  ),
  responses: {
    200: answers('The tag. It is moved only from `expectedDigest`, where that is said; null: from nowhere', Tag),
  },
  failures: ['revision_mismatch', 'tag_immutable'],
})

export const deleteImageTag = defineOperation({
  ...ofRepository,
  id: 'deleteImageTag',
  method: 'DELETE',
  path: `${base}/tags`,
  summary: 'Take a tag away; its manifest stays for the grace period at least',
  access: { kind: 'repository', actions: ['asset.write'] },
  retry: 'compare-and-swap',
  conditions: ['resource-state'],
  query: fields({ image: ImageName, tag: TagName, expectedDigest: Type.Optional(DigestText) }),
  responses: { 204: answersNothing('It is gone') },
  failures: ['revision_mismatch', 'tag_immutable'],
})

export const listTagMoves = defineOperation({
  ...get,
  id: 'listTagMoves',
  path: `${base}/tag-moves`,
  summary: 'List where a tag was and is, newest first, as far as those manifests are still kept',
  access: lists,
  query: fields({
    image: ImageName,
    tag: TagName,
    before: Type.Optional(Type.Integer({ minimum: 1, maximum: revisionMax })),
    limit: pageLimit,
  }),
  responses: {
    200: answers(
      `At most the last ${tagMovesMax}; \`next\` is the \`before\` of the next page. \`keptUntil\` is null while something keeps the manifest`,
      fields({
        items: Type.Array(TagMove, { maxItems: pageMax }),
        next: nullable(Type.Integer({ minimum: 1, maximum: revisionMax })),
      }),
    ),
  },
})

export const getImageManifest = defineOperation({
  ...get,
  id: 'getImageManifest',
  path: `${base}/manifest`,
  summary: 'Open a manifest by its tag or digest: layers, config, history, platforms, annotations, tags',
  access: reads,
  query: fields({ image: ImageName, reference: Reference }),
  responses: {
    200: answers(
      'What is in it. What a config says is shown to those who hold `content.read` as well; of its environment the names alone. `opened` is false where a manifest is too long to be looked into',
      OpenedManifest,
    ),
  },
})

export const deleteImageManifest = defineOperation({
  ...ofRepository,
  id: 'deleteImageManifest',
  method: 'DELETE',
  path: `${base}/manifests`,
  summary: 'Delete a manifest of an image with all of its tags',
  access: { kind: 'repository', actions: ['artifact.delete'] },
  retry: 'idempotent',
  query: fields({ image: ImageName, digest: DigestText }),
  responses: { 204: answersNothing('It is gone') },
  failures: ['image_kept', 'tag_immutable'],
})

export const listImageReferrers = defineOperation({
  ...get,
  id: 'listImageReferrers',
  path: `${base}/referrers`,
  summary: 'List manifests that refer to one of an image, such as signatures and lists of what is in it',
  access: reads,
  query: fields({
    image: ImageName,
    digest: DigestText,
    artifactType: Type.Optional(
      Type.Array(text(1, ociMediaTypeMaxCharacters), { minItems: 1, maxItems: artifactTypesMax }),
    ),
    ...paging,
  }),
  responses: {
    200: answers('A page by digest; one with long annotations may be short and still have a `next`', page(Referrer)),
  },
})
