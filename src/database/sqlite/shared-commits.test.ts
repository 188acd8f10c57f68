import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from 'kysely'
import { onSqlite } from '../../../test/harness/engines.ts'
import type { Database, Queries } from '../database.ts'
import { migrate } from '../migrate.ts'
import { failOnReport, ids, notesSchema, openNotes, write } from '../notes.suite.ts'
import { onCommit } from '../scope.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { SqliteDatabase } from './database.ts'
import { openWalFile } from './wal-file.ts'

const outcomes = async (asked: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(asked)).map((each) => (each.status === 'fulfilled' ? `${each.value}` : `${each.reason}`))

/** How many notes there are, told after writing one more. */
const add = (database: Database, id: number, then: (q: Queries) => unknown = () => {}): Promise<number> =>
  database.transaction(async (tx) => {
    await write(tx, id)
    await then(tx)
    return (await ids(tx)).length
  })

onSqlite((engine) => {
  describe('transactions of one round of the event loop', () => {
    it('are committed together, and durable by one sync', async () => {
      let syncs = 0
      const path = (await engine.freshDatabaseUrl()).slice('sqlite:'.length)
      const counting = { openWal: (at: string) => ({ ...openWalFile(at), sync: async () => void syncs++ }) }
      const database = engine.use(new SqliteDatabase({ path, report: failOnReport, ...counting }))
      await migrate(database, notesSchema)
      const began = syncs
      const seen: number[] = []
      const asked = [1, 2, 3].map(async (id) => {
        await add(database, id)
        seen.push((await ids(database.reader)).length)
      })
      assert.deepEqual(await ids(database.reader), [])
      await Promise.all(asked)
      assert.deepEqual(seen, [3, 3, 3], 'nobody is told before all of them are there')
      assert.equal(syncs - began, 1)
    })

    it('see what those before them did, and not what failed', async () => {
      const database = await openNotes(engine)
      const told = await outcomes([
        add(database, 1),
        add(database, 2, () => {
          throw new Error('no')
        }),
        add(database, 1),
        add(database, 3),
      ])
      assert.deepEqual([told[0], told[1], told[3]], ['1', 'Error: no', '2'])
      assert.match(told[2] ?? '', /UNIQUE/)
      assert.deepEqual(await ids(database.reader), [1, 3])
    })

    it('fail for nothing that was taken back with another', async () => {
      const database = await openNotes(engine)
      let tries = 0
      const told = await outcomes([
        add(database, 1, () => {
          // It fails only where the second is waiting for the same commit, when all begin again.
          tries += 1
          if (tries === 2) throw new Error('once more')
        }),
        database.transaction(async (tx) => {
          if ((await ids(tx)).includes(1)) throw new Error('there is a first')
          return 'there is none'
        }),
      ])
      assert.deepEqual(told, ['Error: once more', 'there is none'])
    })

    it('are told one by one where the commit itself fails', async () => {
      const database = await openNotes(engine)
      await database.transaction((tx) =>
        sql`create table replies (id integer primary key, note integer references notes (id) deferrable initially deferred)`.execute(
          tx,
        ),
      )
      const reply = (note: number) =>
        database.transaction(async (tx) => {
          await sql`insert into replies (note) values (${note})`.execute(tx)
          return note
        })
      const told = await outcomes([add(database, 1), reply(1), reply(2), add(database, 3)])
      assert.deepEqual([told[0], told[1], told[3]], ['1', '1', '2'])
      assert.match(told[2] ?? '', /FOREIGN KEY/)
      assert.deepEqual(await ids(database.reader), [1, 3])
    })

    it('have their effects once, however often their work was done', async () => {
      const database = await openNotes(engine)
      let works = 0
      let effects = 0
      const twice = database.transaction(async (tx) => {
        works += 1
        onCommit(tx, () => {
          effects += 1
        })
        await write(tx, 1)
      })
      await outcomes([twice, add(database, 1)])
      assert.deepEqual([works, effects], [2, 1])
    })

    it('are committed before the database closes, and none after', async () => {
      const url = await engine.freshDatabaseUrl()
      const database = new SqliteDatabase({ path: url.slice('sqlite:'.length), report: failOnReport })
      await migrate(database, notesSchema)
      const asked = [add(database, 1), add(database, 2)]
      await nextRound()
      await Promise.all([...asked, database[Symbol.asyncDispose]()])
      await assert.rejects(add(database, 3), DatabaseUnavailable)
    })

    it('end as if each had been alone, in the order in which they came, whatever fails', async () => {
      const steps = fc.array(
        fc.record({
          id: fc.integer({ min: 1, max: 12 }),
          fails: fc.boolean(),
          pauses: fc.boolean(),
          removes: fc.boolean(),
          nextRound: fc.boolean(),
        }),
        { maxLength: 25 },
      )
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const database = await openNotes(engine)
          const model = new Set<number>()
          const expected: string[] = []
          const asked: Promise<string>[] = []
          for (const step of all) {
            const refused = step.fails || (!step.removes && model.has(step.id))
            if (!refused) model[step.removes ? 'delete' : 'add'](step.id)
            expected.push(refused ? 'refused' : [...model].sort((a, b) => a - b).join())
            asked.push(
              database
                .transaction(async (tx) => {
                  if (step.removes) await sql`delete from notes where id = ${step.id}`.execute(tx)
                  else await write(tx, step.id)
                  if (step.pauses) await nextRound()
                  if (step.fails) throw new Error('as asked')
                  return (await ids(tx)).join()
                })
                .catch(() => 'refused'),
            )
            if (step.nextRound) await nextRound()
          }
          assert.deepEqual(await Promise.all(asked), expected)
          assert.deepEqual(
            await ids(database.reader),
            [...model].sort((a, b) => a - b),
          )
        }),
        { numRuns: 60 },
      )
    })
  })
})
