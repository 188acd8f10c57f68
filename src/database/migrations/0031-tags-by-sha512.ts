import type { Migration } from '../migration.ts'

/** A tag that was set beside a SHA-512 is answered with that digest of its manifest. */
export const tagsBySha512: Migration = {
  number: 31,
  name: 'tags-by-sha512',
  async up(q, { text }) {
    await q.schema
      .alterTable('oci_tags')
      .addColumn('algorithm', text, (c) => c.notNull().defaultTo('sha256'))
      .execute()
  },
}
