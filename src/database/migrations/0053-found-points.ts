import type { Migration } from '../migration.ts'

/** Points that were not taken here, and those whose manifests are away. */
export const foundPoints: Migration = {
  number: 53,
  name: 'found-points',
  async up(q, { text }) {
    await q.schema.alterTable('backup_points').addColumn('found_at', text).execute()
    await q.schema.alterTable('backup_points').addColumn('missing_since', text).execute()
  },
}
