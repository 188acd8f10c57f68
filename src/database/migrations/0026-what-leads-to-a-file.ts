import type { Migration } from '../migration.ts'

/** From a file to the paths that show it, page by page: the index of before had them in no order. */
export const whatLeadsToAFile: Migration = {
  number: 26,
  name: 'what-leads-to-a-file',
  async up(q) {
    await q.schema.dropIndex('assets_by_artifact').execute()
    await q.schema.createIndex('assets_of_artifact').on('assets').columns(['artifact_id', 'path']).execute()
  },
}
