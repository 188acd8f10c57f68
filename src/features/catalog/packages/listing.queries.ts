import { countUpTo } from '../../../database/count-up-to.queries.ts'
import type { Queries } from '../../../database/database.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'
import { stageNames } from './stages.queries.ts'

export type PackageRow = Omit<PackagesTable, 'manifest'>

type KeyColumn = 'group_key' | 'name_key' | 'version_key'

/**
 * The columns of each order. Every one of them is all of a version's identity, so that pages neither repeat nor miss.
 */
const orders = {
  group: ['group_key', 'name_key', 'version_key'],
  name: ['name_key', 'group_key', 'version_key'],
  version: ['version_key', 'name_key', 'group_key'],
} as const satisfies Record<string, readonly [KeyColumn, KeyColumn, KeyColumn]>

type Order = keyof typeof orders

export type Position = Readonly<Record<KeyColumn, string>>

export interface Page {
  readonly repository: string
  readonly order: Order
  readonly descending: boolean
  readonly groupKey: string | null
  readonly nameKey: string | null
  readonly after: Position | null
  readonly limit: number
}

/**
 * Without manifests, which may be long. What a filter fixes is left out of the order, so that an index has the rest of
 * it.
 */
export const listPackageRows = (q: Queries, page: Page): Promise<PackageRow[]> => {
  const { groupKey, nameKey, after, descending } = page
  const free = orders[page.order].filter(
    (column) => !((column === 'group_key' && groupKey !== null) || (column === 'name_key' && nameKey !== null)),
  )
  let query = q
    .selectFrom('packages')
    .select(['artifact_id', 'repository', 'group_name', 'group_key', 'name', 'name_key', 'version', 'version_key'])
    .select(['prerelease', 'registered_at', 'published_at', 'manifest_bytes'])
    .where('repository', '=', page.repository)
    .limit(page.limit)
  if (groupKey !== null) query = query.where('group_key', '=', groupKey)
  if (nameKey !== null) query = query.where('name_key', '=', nameKey)
  for (const column of free) query = query.orderBy(column, descending ? 'desc' : 'asc')
  if (after === null) return query.execute()
  // A row of keys compares as a whole, by which an index finds where to go on.
  const beyond = descending ? '<' : '>'
  const [first, second, third] = free
  return query
    .where((eb) => {
      if (first === undefined || second === undefined) return eb('version_key', beyond, after.version_key)
      if (third === undefined) return eb(eb.refTuple(first, second), beyond, eb.tuple(after[first], after[second]))
      return eb(eb.refTuple(first, second, third), beyond, eb.tuple(after[first], after[second], after[third]))
    })
    .execute()
}

export const countPackageRows = (q: Queries, repositories: readonly string[], most: number) =>
  countUpTo(
    q,
    repositories,
    (eb) => eb.selectFrom('packages').whereRef('packages.repository', '=', 'repositories.id'),
    most,
  )

/** What a page shows of a version beside its row. */
export interface Shown {
  readonly manifest: string
  readonly size: number
  /** Names with commas between them, in any order. */
  readonly stages: string | null
}

export const shownOf = async (q: Queries, artifactIds: readonly string[]): Promise<Map<string, Shown>> => {
  if (artifactIds.length === 0) return new Map()
  const rows = await q
    .selectFrom('packages')
    .innerJoin('artifacts', 'artifacts.id', 'packages.artifact_id')
    .select((eb) => [
      'packages.artifact_id',
      'packages.manifest',
      'artifacts.size',
      stageNames(eb.ref('packages.artifact_id')).as('stages'),
    ])
    .where('packages.artifact_id', 'in', artifactIds)
    .execute()
  return new Map(rows.map(({ artifact_id, ...shown }) => [artifact_id, shown]))
}
