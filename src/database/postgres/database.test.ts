import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { onPostgres } from '../../../test/harness/engines.ts'
import { startPostgres } from '../../../test/harness/postgres.ts'
import type { Database, Queries } from '../database.ts'
import { migrate } from '../migrate.ts'
import { collectReports, ids, notesSchema, openNotes, write } from '../notes.suite.ts'
import { openDatabase } from '../open.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

const processId = async (q: Queries): Promise<number> => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(q)
  return rows[0]?.pid ?? 0
}

/** Until the engine answers again; the pool may still hold connections that do not know yet that they are dead. */
const recovered = async (database: Database): Promise<void> => {
  for (let tries = 0; ; tries++) {
    try {
      return await database.probe()
    } catch (error) {
      assert(error instanceof DatabaseUnavailable)
      if (tries > 200) throw error
      await pause(25)
    }
  }
}

onPostgres((engine) => {
  describe('conflicts', () => {
    it('are retried when two transactions block each other', async () => {
      const database = await openNotes(engine)
      await database.transaction(async (tx) => {
        await write(tx, 1)
        await write(tx, 2)
      })
      let runs = 0
      const both = Promise.withResolvers<void>()
      const crossing = (first: number, second: number): Promise<void> =>
        database.transaction(async (tx) => {
          runs++
          await sql`update notes set body = 'x' where id = ${first}`.execute(tx)
          if (runs === 2) both.resolve()
          await both.promise
          await sql`update notes set body = 'x' where id = ${second}`.execute(tx)
        })
      await Promise.all([crossing(1, 2), crossing(2, 1)])
      // The one that gave way ran again; on a slow machine it may have to give way more than once.
      assert.ok(runs >= 3, String(runs))
    })
  })

  describe('a lost connection', () => {
    it('fails the transaction as unavailable, commits nothing and leaves the database usable', async () => {
      const { report } = collectReports()
      const database = await openNotes(engine, report)
      const other = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report }))
      const known = Promise.withResolvers<number>()
      const killed = Promise.withResolvers<void>()
      const failing = database.transaction(async (tx) => {
        await write(tx, 1)
        known.resolve(await processId(tx))
        await killed.promise
        await write(tx, 2)
      })
      const failed = assert.rejects(failing, DatabaseUnavailable)
      await kill(other, await known.promise)
      killed.resolve()
      await failed
      await recovered(database)
      assert.deepEqual(await ids(database.reader), [])
    })

    it('while idle is reported and costs nobody an error', async () => {
      const { reports, report } = collectReports()
      const database = await openNotes(engine, report)
      const other = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report }))
      await kill(other, await processId(database.reader))
      while (reports.length === 0) await pause(5)
      assert.deepEqual(await ids(database.reader), [])
    })
  })

  it('stops answering with its server and comes back with it', async () => {
    const { report } = collectReports()
    const server = engine.use(await startPostgres())
    const database = engine.use(await openDatabase({ url: await server.createDatabase(), report }))
    await migrate(database, notesSchema)
    await database.transaction((tx) => write(tx, 1))
    await server.halt()
    await assert.rejects(database.probe(), DatabaseUnavailable)
    await assert.rejects(ids(database.reader), DatabaseUnavailable)
    await assert.rejects(
      database.transaction((tx) => write(tx, 2)),
      DatabaseUnavailable,
    )
    await server.start()
    await recovered(database)
    assert.deepEqual(await ids(database.reader), [1])
  })

  it('commits synchronously and reads only, whatever the address says', async () => {
    const { report } = collectReports()
    const url = `${await engine.freshDatabaseUrl()}?options=-c%20synchronous_commit%3Doff%20-c%20work_mem%3D8MB`
    const database = engine.use(await openDatabase({ url, report }))
    const { rows } =
      await sql`select current_setting('synchronous_commit') as sync, current_setting('work_mem') as memory,
      current_setting('transaction_read_only') as reading`.execute(database.reader)
    assert.deepEqual(rows, [{ sync: 'on', memory: '8MB', reading: 'on' }])
  })
})

const kill = async (database: Database, pid: number): Promise<void> => {
  await sql`select pg_terminate_backend(${pid}::int)`.execute(database.reader)
}
