import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** What gateways need to know of each other: by what they sign queue tickets, and who may give out how many slots. */
export const downloadQueue: Migration = {
  number: 7,
  name: 'download-queue',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('download_queue')
      .addColumn('id', integer, (c) => c.primaryKey().check(sql`id = 1`))
      .addColumn('ticket_secret', text, (c) => c.notNull())
      .execute()
    // Made here and not at a start, so that a gateway that cannot write finds it.
    await sql`insert into download_queue (id, ticket_secret) values (1, ${randomBytes(32).toString('hex')})`.execute(q)
    await q.schema
      .createTable('download_gateways')
      .addColumn('id', text, (c) => c.primaryKey())
      .addColumn('slots', integer, (c) => c.notNull())
      .addColumn('held', integer, (c) => c.notNull())
      .addColumn('wanted', integer, (c) => c.notNull())
      .addColumn('ends_at', text, (c) => c.notNull())
      .execute()
  },
}
