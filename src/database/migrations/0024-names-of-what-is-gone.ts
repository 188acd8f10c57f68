import type { Migration } from '../migration.ts'

/**
 * What a group was called stands in the lines of the security audit: a group that was removed has no other place for
 * its name.
 */
export const namesOfWhatIsGone: Migration = {
  number: 24,
  name: 'names-of-what-is-gone',
  async up(q, { text }) {
    await q.schema.alterTable('security_audit').addColumn('subject_name', text).execute()
  },
}
