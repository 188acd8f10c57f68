import type { Queries } from '../../../database/database.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'
import { packagePageManifestBytesMax } from '../../../kernel/limits/packages.ts'
import { cursorOf } from './cursor.ts'
import { countPackageRows, listPackageRows, type PackageRow, type Page, shownOf } from './listing.queries.ts'
import { type ListedVersion, toListedVersion } from './views.ts'

export interface PackageGroup {
  readonly group: string
  /** Null where whole groups are put together. */
  readonly name: string | null
  readonly artifactIds: string[]
}

/**
 * A page of package versions. It ends early where the manifests of the versions would together be too much for one
 * answer; `next` says whether there are more.
 */
export const packagePage = async (
  q: Queries,
  page: Page,
  grouping: 'none' | 'group' | 'package',
): Promise<{ items: ListedVersion[]; next: string | null; groups: PackageGroup[] }> => {
  const rows = await listPackageRows(q, { ...page, limit: page.limit + 1 })
  const fitting = rows.slice(0, countThatFits(rows.slice(0, page.limit)))
  const more = await shownOf(
    q,
    fitting.map(({ artifact_id }) => artifact_id),
  )
  // What was deleted between the two reads is gone.
  const shown = fitting.filter(({ artifact_id }) => more.has(artifact_id))
  const last = fitting.at(-1)
  return {
    items: shown.flatMap((row) => {
      const beside = more.get(row.artifact_id)
      return beside === undefined ? [] : [toListedVersion(row, beside)]
    }),
    next: last !== undefined && fitting.length < rows.length ? cursorOf(page, last) : null,
    groups: grouping === 'none' ? [] : grouped(shown, grouping),
  }
}

/** How many package versions are registered in the repository, up to so many. */
export const countVersions = countPackageRows

/** At least one, or a page could not go on. */
const countThatFits = (rows: readonly Pick<PackagesTable, 'manifest_bytes'>[]): number => {
  let bytes = 0
  for (const [index, { manifest_bytes }] of rows.entries()) {
    bytes += manifest_bytes
    if (bytes > packagePageManifestBytesMax && index > 0) return index
  }
  return rows.length
}

/** The versions of the page put together, in the order in which they come first. */
const grouped = (rows: readonly PackageRow[], by: 'group' | 'package'): PackageGroup[] => {
  const groups = new Map<string, PackageGroup>()
  for (const { group_key, name_key, group_name, name, artifact_id } of rows) {
    const key = by === 'group' ? group_key : `${group_key}/${name_key}`
    const known = groups.get(key)
    if (known === undefined)
      groups.set(key, { group: group_name, name: by === 'group' ? null : name, artifactIds: [artifact_id] })
    else known.artifactIds.push(artifact_id)
  }
  return [...groups.values()]
}
