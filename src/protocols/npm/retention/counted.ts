import type { Queries } from '../../../database/database.ts'
import type { Counted } from '../../../features/lifecycle/policies/counted.ts'
import { matchesPattern } from '../../../kernel/wildcard-pattern.ts'
import {
  type CountedPackage,
  countNpmVersions,
  newestNpmVersions,
  npmTagsAmong,
  nthNewestNpmVersion,
  oldestNpmVersions,
} from './counted.queries.ts'

/**
 * The versions of the npm packages of a repository as policies count them: by package, in the order in which they were
 * published here. The labels of a version are its tags.
 */
export const publishedVersions = (q: Queries, repository: string): Counted<CountedPackage> => ({
  keyOf: ({ name }) => name,
  groupsAfter: async (after, limit) =>
    (await countNpmVersions(q, repository, after, limit)).map(({ name, versions }) => ({
      group: { name },
      things: versions,
    })),
  nthNewest: (counted, n) => nthNewestNpmVersion(q, repository, counted, n),
  newest: (counted, before, limit) => newestNpmVersions(q, repository, counted, before, limit),
  oldest: (counted, between, limit) => oldestNpmVersions(q, repository, counted, between, limit),
  borne: async (ids, labels) => {
    const tags = await tagsOfEach(q, ids)
    return new Map([...tags].map(([id, those]) => [id, labelsAmong(labels, those)]))
  },
})

/** The tags of each of some versions, in order; what has none is left out. */
export const tagsOfEach = async (
  q: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const tags = new Map<string, string[]>()
  if (ids.length === 0) return tags
  for (const { version_id, tag } of await npmTagsAmong(q, ids))
    tags.set(version_id, [...(tags.get(version_id) ?? []), tag])
  return tags
}

/** Which of some labels, each a tag or a pattern of tags, some tags match. */
export const labelsAmong = (labels: readonly string[], tags: readonly string[]): string[] =>
  labels.filter((label) => tags.some((tag) => matchesPattern(label, tag)))
