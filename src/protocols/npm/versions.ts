import type { Queries } from '../../database/database.ts'
import { findVersion } from './packages.queries.ts'
import type { PackageName } from './reading.ts'
import { versionUnknown } from './refusals.ts'

/** A version by its number. */
export interface VersionName extends PackageName {
  readonly version: string
}

/** A version that is there. 404 without it. */
export const versionAt = async (q: Queries, named: VersionName) => {
  const found = await findVersion(q, named, named.version)
  if (found === undefined) throw versionUnknown(named.name, named.version)
  return found
}
