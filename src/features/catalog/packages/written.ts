import type { PackagesTable } from '../../../database/tables/packages.ts'
import { Failure } from '../../../kernel/failure.ts'
import { parseManifest } from './manifest.ts'
import { packageRow } from './registration.ts'

/** Whether all that is written of a version is what its manifest makes of it. */
export const isAsItsManifest = (row: PackagesTable): boolean => {
  const { artifact_id: id, repository, published_at, registered_at } = row
  try {
    const manifest = parseManifest(Buffer.from(row.manifest))
    const { manifest: text, ...made } = packageRow({ id, repository, published_at }, manifest, registered_at)
    const keys = Object.entries({ ...made, manifest: text })
    return keys.every(([column, value]) =>
      Object.entries(row).some(([name, said]) => name === column && said === value),
    )
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}
