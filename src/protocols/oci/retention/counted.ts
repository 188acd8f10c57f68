import type { Queries } from '../../../database/database.ts'
import type { Counted } from '../../../features/lifecycle/policies/counted.ts'
import { pageMax } from '../../../kernel/limits/catalog.ts'
import { tagsLookedAt } from '../../../kernel/limits/oci.ts'
import { matchesPattern } from '../../../kernel/wildcard-pattern.ts'
import {
  countImages,
  type Image,
  newestImages,
  nthNewestImage,
  oldestImages,
  tagsAmong,
  tagsOfAfter,
} from './counted.queries.ts'

/**
 * The images of a repository as policies count them: manifests that a tag is at, by their name, in the order in which
 * their newest tags came to them. What an index lists, and what refers to something that is here, is no image by itself
 * (`settleKept` keeps that with the row). The labels of an image are its tags.
 */
export const taggedImages = (q: Queries, repository: string): Counted<Image> => ({
  keyOf: ({ name }) => name,
  groupsAfter: async (after, limit) =>
    (await countImages(q, repository, after, limit)).map(({ name, manifests }) => ({
      group: { name },
      things: manifests,
    })),
  nthNewest: (image, n) => nthNewestImage(q, repository, image, n),
  newest: (image, before, limit) => newestImages(q, repository, image, before, limit),
  oldest: (image, between, limit) => oldestImages(q, repository, image, between, limit),
  borne: (ids, labels) => borneLabels(q, ids, labels),
})

/** Which of some labels manifests bear, each a tag or a pattern of tags. */
export const borneLabels = async (
  q: Queries,
  ids: readonly string[],
  labels: readonly string[],
): Promise<Map<string, readonly string[]>> => {
  const borne = new Map<string, Set<string>>()
  if (ids.length > 0 && labels.length > 0)
    for await (const { manifest_id, tag } of tagsOfAll(q, ids)) {
      const found = borne.get(manifest_id) ?? new Set()
      for (const label of labels) if (!found.has(label) && matchesPattern(label, tag)) found.add(label)
      borne.set(manifest_id, found)
    }
  return new Map([...borne].map(([id, found]) => [id, labels.filter((label) => found.has(label))]))
}

async function* tagsOfAll(q: Queries, ids: readonly string[]) {
  for (let at = 0; at < ids.length; at += pageMax) {
    const some = ids.slice(at, at + pageMax)
    const together = await tagsAmong(q, some, tagsLookedAt)
    if (together.length < tagsLookedAt) yield* together
    else for (const id of some) yield* tagsOfOne(q, id)
  }
}

async function* tagsOfOne(q: Queries, manifest_id: string) {
  for (let after = ''; ; ) {
    const tags = await tagsOfAfter(q, manifest_id, after, tagsLookedAt)
    for (const tag of tags) yield { manifest_id, tag }
    if (tags.length < tagsLookedAt) return
    after = tags.at(-1) ?? ''
  }
}
