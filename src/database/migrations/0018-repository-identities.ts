import type { Migration } from '../migration.ts'

/** Tells a repository from those that had its id before: which of them it is, and where its journals begin. */
export const repositoryIdentities: Migration = {
  number: 18,
  name: 'repository-identities',
  async up(q, { integer }) {
    const add = (name: string, at: number) =>
      q.schema
        .alterTable('repositories')
        .addColumn(name, integer, (c) => c.notNull().defaultTo(at))
        .execute()
    await add('incarnation', 1)
    await add('journal_base', 0)
    await add('storage_event_base', 0)
  },
}
