import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What claims hold in the database beside their bytes: so far, what is said of npm versions. */
export const whatIsSaidCounts: Migration = {
  number: 52,
  name: 'what-is-said-counts',
  async up(q, { integer }) {
    await q.schema
      .alterTable('claims')
      .addColumn('beside', integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await sql`update claims set beside = (
      select octet_length(v.manifest) + coalesce(octet_length(v.readme), 0) + coalesce(octet_length(v.attestations), 0)
      from npm_versions v where v.id = claims.id)
      where exists (select 1 from npm_versions v where v.id = claims.id)`.execute(q)
    const said = (state: string) =>
      sql`cast((select coalesce(sum(c.beside), 0) from claims c
        where c.repository = repositories.id and c.state = ${sql.lit(state)}) as bigint)`
    await sql`update repositories set published_bytes = published_bytes + ${said('live')},
      retired_bytes = retired_bytes + ${said('retired')}`.execute(q)
    await sql`update counters set value = value + cast((select coalesce(sum(beside), 0) from claims) as bigint)
      where name = 'reserved_bytes'`.execute(q)
  },
}
