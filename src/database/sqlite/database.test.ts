import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, writeFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { onSqlite } from '../../../test/harness/engines.ts'
import { writersWaitingMax } from '../../kernel/limits/engines.ts'
import { migrate } from '../migrate.ts'
import { collectReports, failOnReport, ids, notesSchema, openNotes, write } from '../notes.suite.ts'
import { openDatabase } from '../open.ts'
import { onCommit } from '../scope.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { SqliteDatabase } from './database.ts'
import { openWalFile } from './wal-file.ts'

/** A database whose syncs end when the test says how. */
/** Writes one note, says so, and another one when its input ends: as somebody would who knows SQLite and not us. */
const stranger = `const database = new (require('node:sqlite').DatabaseSync)(process.argv[1])
const write = (id) => database.prepare("insert into notes (id, body) values (?, '')").run(id)
write(1)
console.log('written')
process.stdin.resume().on('end', () => write(2))`

const withHeldSyncs = async (url: string, report = failOnReport) => {
  const held: PromiseWithResolvers<void>[] = []
  let holding = false
  const database = new SqliteDatabase({
    path: url.slice('sqlite:'.length),
    report,
    openWal: (path) => ({
      ...openWalFile(path),
      sync: () => {
        if (!holding) return Promise.resolve()
        const sync = Promise.withResolvers<void>()
        held.push(sync)
        return sync.promise
      },
    }),
  })
  await migrate(database, notesSchema)
  await database.settled()
  holding = true
  return {
    database,
    held,
    letGo: () => {
      holding = false
      for (const sync of held.splice(0)) sync.resolve()
    },
  }
}

onSqlite((engine) => {
  describe('the writer', () => {
    it('takes transactions first come, first served', async () => {
      const database = await openNotes(engine)
      const order: number[] = []
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          database.transaction(async (tx) => {
            order.push(index)
            if (index % 7 === 0) await nextRound()
            await write(tx, index)
          }),
        ),
      )
      assert.deepEqual(
        order,
        Array.from({ length: 50 }, (_, index) => index),
      )
    })

    it('turns away those beyond the limit, and serves the others', async () => {
      const database = await openNotes(engine)
      const gate = Promise.withResolvers<void>()
      const first = database.transaction(async () => await gate.promise)
      const waiting = Array.from({ length: writersWaitingMax }, () => database.transaction(async () => {}))
      await assert.rejects(
        database.transaction(async () => {}),
        DatabaseUnavailable,
      )
      gate.resolve()
      await Promise.all([first, ...waiting])
    })

    it('lets the event loop turn while transactions follow each other without a pause', async () => {
      const database = await openNotes(engine)
      let rounds = 0
      let over = false
      const count = async (): Promise<void> => {
        for (; !over; rounds++) await nextRound()
      }
      const counting = count()
      for (let id = 0; id < 3_000; id++) {
        void database.transaction((tx) => write(tx, id), { durability: 'relaxed' })
      }
      await database.transaction(async () => {})
      over = true
      await counting
      assert(rounds > 5, `${rounds} turns`)
    })
  })

  describe('durability', () => {
    it('holds back acknowledgement and effects until the sync, not the visibility', async () => {
      const { database, held, letGo } = await withHeldSyncs(await engine.freshDatabaseUrl())
      engine.use(database)
      const events: string[] = []
      const writing = database.transaction(async (tx) => {
        onCommit(tx, () => events.push('effect'))
        await write(tx, 1)
      })
      const acknowledged = writing.then(() => events.push('acknowledged'))
      while (held.length === 0) await nextRound()
      await nextRound()
      assert.deepEqual(await ids(database.reader), [1])
      assert.deepEqual(events, [])
      letGo()
      await acknowledged
      assert.deepEqual(events, ['effect', 'acknowledged'])
    })

    it('is not waited for by relaxed transactions, but by those who read what they wrote', async () => {
      const { database, held, letGo } = await withHeldSyncs(await engine.freshDatabaseUrl())
      engine.use(database)
      await database.transaction((tx) => write(tx, 1), { durability: 'relaxed' })
      assert.equal(held.length, 0)
      let answered = 0
      const readings = [database.transaction(ids), database.settled(), database.snapshot(ids)].map((reading) =>
        reading.then(() => answered++),
      )
      while (held.length === 0) await nextRound()
      await nextRound()
      assert.equal(answered, 0)
      letGo()
      await Promise.all(readings)
    })

    it('ends for good with a failed sync', async () => {
      const { reports, report } = collectReports()
      const { database, held, letGo } = await withHeldSyncs(await engine.freshDatabaseUrl(), report)
      engine.use(database)
      const writing = database.transaction((tx) => write(tx, 1))
      while (held.length === 0) await nextRound()
      held.shift()?.reject(new Error('EIO'))
      await assert.rejects(writing, DatabaseUnavailable)
      letGo()
      await assert.rejects(
        database.transaction((tx) => write(tx, 2)),
        /Syncing .* failed/,
      )
      await assert.rejects(database.settled(), DatabaseUnavailable)
      await assert.rejects(database.probe(), DatabaseUnavailable)
      assert.equal(reports.length, 1)
    })
  })

  describe('several processes on one file', () => {
    const neighbour = fileURLToPath(new URL('./neighbour.suite.ts', import.meta.url))

    it('write in turns and lose nothing', async () => {
      const url = await engine.freshDatabaseUrl()
      const database = engine.use(await openDatabase({ url, report: failOnReport }))
      await migrate(database, notesSchema)
      const others = [1, 2].map((n) =>
        spawn(process.execPath, [neighbour, url, `${n * 1_000}`, '100'], { stdio: ['ignore', 'ignore', 'inherit'] }),
      )
      const exits = others.map((other) => once(other, 'exit'))
      for (let id = 0; id < 100; id++) {
        await database.transaction((tx) => write(tx, id))
        await nextRound()
      }
      for (const exit of exits) assert.deepEqual(await exit, [0, null])
      const from = (first: number): number[] => Array.from({ length: 100 }, (_, index) => first + index)
      assert.deepEqual(await ids(database.reader), [...from(0), ...from(1_000), ...from(2_000)])
    })

    it('wait for a long transaction of a neighbour with the event loop running', async () => {
      const url = await engine.freshDatabaseUrl()
      const database = engine.use(await openDatabase({ url, report: failOnReport }))
      await migrate(database, notesSchema)
      const other = spawn(process.execPath, [neighbour, url, '1000', '1', '400'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(other, 'exit')
      await once(other.stdout, 'data')
      let rounds = 0
      const watching = setInterval(() => rounds++, 5)
      await new Promise((resolve) => setTimeout(resolve, 50))
      await database.transaction((tx) => write(tx, 1))
      clearInterval(watching)
      await exited
      assert(rounds > 20, `${rounds} turns`)
      assert.deepEqual(await ids(database.reader), [1, 1_000])
    })

    it('may make the file together', async () => {
      const url = await engine.freshDatabaseUrl()
      const exits = Array.from({ length: 4 }, () =>
        once(spawn(process.execPath, [neighbour, url], { stdio: 'ignore' }), 'exit'),
      )
      for (const exit of exits) assert.deepEqual(await exit, [0, null])
    })

    it('begin only when no program that knows nothing of their locks has it open, whose commits stay', async (context) => {
      const url = await engine.freshDatabaseUrl()
      const path = url.slice('sqlite:'.length)
      const opened = await openDatabase({ url, report: failOnReport })
      await migrate(opened, notesSchema)
      await opened[Symbol.asyncDispose]()
      const foreign = spawn(process.execPath, ['-e', stranger, path], { stdio: ['pipe', 'pipe', 'inherit'] })
      const ended = once(foreign, 'exit')
      context.after(() => foreign.kill('SIGKILL'))
      await once(foreign.stdout, 'data')
      await assert.rejects(openDatabase({ url, report: failOnReport }), /Another program has .* open. End it/)
      foreign.stdin.end()
      await ended
      const database = engine.use(await openDatabase({ url, report: failOnReport }))
      assert.deepEqual(await ids(database.reader), [1, 2])
    })

    it('see what a neighbour wrote, and settle it', async () => {
      const url = await engine.freshDatabaseUrl()
      const database = engine.use(await openDatabase({ url, report: failOnReport }))
      await migrate(database, notesSchema)
      const second = engine.use(await openDatabase({ url, report: failOnReport }))
      await second.transaction((tx) => write(tx, 1), { durability: 'relaxed' })
      assert.deepEqual(await ids(database.reader), [1])
      await database.settled()
    })
  })

  it('keeps numbers as the integers they are', async () => {
    const database = await openNotes(engine)
    await database.transaction(async (tx) => {
      await sql`insert into notes (id, body) values (1, ${'a'} || ${5})`.execute(tx)
      const { rows } = await sql`select body, typeof(${5}) as five, typeof(${5.5}) as half from notes`.execute(tx)
      assert.deepEqual(rows, [{ body: 'a5', five: 'integer', half: 'real' }])
    })
  })

  it('begins anew after a power cut that left half of its first page', async () => {
    const url = await engine.freshDatabaseUrl()
    const path = url.slice('sqlite:'.length)
    await writeFile(path, Buffer.alloc(4_096))
    // As SQLite writes it before the first page of a new file: nothing to bring back, and no pages before.
    const journal = Buffer.alloc(512)
    Buffer.from('d9d505f920a163d7', 'hex').copy(journal)
    journal.writeUInt32BE(512, 20)
    journal.writeUInt32BE(4_096, 24)
    await writeFile(`${path}-journal`, journal)
    const database = engine.use(await openDatabase({ url, report: failOnReport }))
    await migrate(database, notesSchema)
    assert.deepEqual(await ids(database.reader), [])
  })

  it('says what is wrong with a file that is no database', async () => {
    await assert.rejects(openDatabase({ url: 'sqlite:/dev/null/none', report: failOnReport }), DatabaseUnavailable)
    const url = await engine.freshDatabaseUrl()
    await copyFile(import.meta.filename, url.slice('sqlite:'.length))
    await assert.rejects(openDatabase({ url, report: failOnReport }), /is not a database/)
  })
})
