import type { Queries } from '../../../database/database.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { pathCursor, pathOfCursor } from '../assets/cursor.ts'
import { pathsOf, versionsOf } from './whereabouts.queries.ts'

interface ShowingPath {
  readonly path: string
  readonly revision: number
}

interface NamedVersion {
  readonly group: string
  readonly name: string
  readonly version: string
}

export interface Whereabouts extends Page<ShowingPath> {
  /** The same on every page. */
  readonly packages: NamedVersion[]
}

/**
 * What leads to a published file now: a page of the paths that show it, and the package version that it is. 404 for no
 * such file.
 */
export const whereaboutsOf = async (
  q: Queries,
  repository: string,
  id: string,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<Whereabouts> => {
  const last = after === undefined ? '' : pathOfCursor(repository, '', after)
  await publishedArtifact(q, repository, id)
  const rows = await pathsOf(q, repository, id, last, limit + 1)
  const versions = await versionsOf(q, id)
  return {
    ...pageOf(
      rows,
      limit,
      ({ path, revision }) => ({ path, revision }),
      ({ path }) => pathCursor(repository, '', path),
    ),
    packages: versions.map(({ group_name: group, name, version }) => ({ group, name, version })),
  }
}
