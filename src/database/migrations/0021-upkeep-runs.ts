import type { Migration } from '../migration.ts'

/** When each part of the upkeep last went well, in whichever process. */
export const upkeepRuns: Migration = {
  number: 21,
  name: 'upkeep-runs',
  async up(q, { text }) {
    await q.schema
      .createTable('upkeep_runs')
      .addColumn('name', text, (c) => c.primaryKey())
      .addColumn('succeeded_at', text, (c) => c.notNull())
      .execute()
  },
}
