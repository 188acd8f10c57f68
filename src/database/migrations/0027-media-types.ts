import type { Migration } from '../migration.ts'

/** What a file was said to be, with the revision by which its path shows it. */
export const mediaTypes: Migration = {
  number: 27,
  name: 'media-types',
  async up(q, { text }) {
    await q.schema.alterTable('asset_revisions').addColumn('media_type', text).execute()
  },
}
