import type { Queries } from '../../../database/database.ts'
import { currentLabels } from '../deletion/eligibility.ts'
import type { Counted } from './counted.ts'
import { countVersions, newestVersions, nthNewest, oldestVersions, type Package } from './versions.queries.ts'

/** The package versions of a repository, by package. */
export const packageVersions = (q: Queries, repository: string): Counted<Package> => ({
  keyOf: ({ group_key, name_key }) => JSON.stringify([group_key, name_key]),
  groupsAfter: async (after, limit) =>
    (await countVersions(q, repository, after, limit)).map(({ versions, ...group }) => ({ group, things: versions })),
  nthNewest: (group, n) => nthNewest(q, repository, group, n),
  newest: (group, before, limit) => newestVersions(q, repository, group, before, limit),
  oldest: (group, between, limit) => oldestVersions(q, repository, group, between, limit),
  borne: (ids) => currentLabels(q, repository, ids),
})
