import type { Migration } from '../migration.ts'

/** Which tags of images stay where they are. */
export const immutableTags: Migration = {
  number: 34,
  name: 'immutable-tags',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('oci_immutable_tags')
      .addColumn('repository', text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('revision', integer, (c) => c.notNull())
      .addColumn('patterns', text, (c) => c.notNull())
      .addColumn('saved_at', text, (c) => c.notNull())
      .addColumn('actor', text, (c) => c.notNull())
      .execute()
  },
}
