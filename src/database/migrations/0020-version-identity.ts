import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Finds a version however it is written. Not unique: versions that differ in nothing but upper and lower case may be
 * there from before, and stay; another one is refused (`features/catalog/packages/versions.ts`).
 */
export const versionIdentity: Migration = {
  number: 20,
  name: 'version-identity',
  async up(q) {
    await q.schema
      .createIndex('packages_by_identity')
      .on('packages')
      .columns(['repository', 'group_key', 'name_key'])
      .expression(sql`lower(version_key)`)
      .execute()
  },
}
