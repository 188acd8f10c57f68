import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { sql } from 'kysely'
import { DatabaseError } from 'pg'
import { forEachEngine } from '../../test/harness/engines.ts'
import type { Transaction } from './database.ts'
import { collectReports, ids, openNotes, write } from './notes.suite.ts'
import { announce, insideTransaction, onCommit } from './scope.ts'
import { DatabaseUnavailable } from './unavailable.ts'

forEachEngine((engine) => {
  describe('an announcement', () => {
    it('reaches those who listen to the same database, once, and not after a rollback', async () => {
      const [database, other] = [await openNotes(engine), await openNotes(engine)]
      const heard: string[] = []
      const deaf = database.listen((topic) => void heard.push(topic))
      other.listen((topic) => assert.fail(topic))
      await database.transaction(async (tx) => {
        await write(tx, 1)
        for (const topic of ['one', 'one', 'two']) announce(tx, topic)
        assert.deepEqual(heard, [])
      })
      assert.deepEqual(heard, ['one', 'two'])
      const failing = database.transaction(async (tx) => {
        announce(tx, 'never')
        throw new Error('no')
      })
      await assert.rejects(failing, { message: 'no' })
      deaf()
      await database.transaction(async (tx) => announce(tx, 'late'))
      assert.deepEqual(heard, ['one', 'two'])
    })

    it('that makes a listener fail is reported, and reaches the others', async () => {
      const reports = collectReports()
      const database = await openNotes(engine, reports.report)
      const heard: string[] = []
      database.listen(() => {
        throw new Error('deaf')
      })
      database.listen((topic) => void heard.push(topic))
      await database.transaction(async (tx) => announce(tx, 'one'))
      assert.deepEqual(heard, ['one'])
      assert.equal(reports.reports.length, 1)
    })
  })

  describe('a transaction', () => {
    it('is seen by the reader once it has resolved, and answers what its work answers', async () => {
      const database = await openNotes(engine)
      const answer = await database.transaction(async (tx) => {
        await write(tx, 1)
        assert.deepEqual(await ids(tx), [1])
        return 'done'
      })
      assert.equal(answer, 'done')
      assert.deepEqual(await ids(database.reader), [1])
    })

    it('leaves nothing when its work throws', async () => {
      const database = await openNotes(engine)
      const failing = database.transaction(async (tx) => {
        await write(tx, 1)
        throw new Error('no')
      })
      await assert.rejects(failing, { message: 'no' })
      assert.deepEqual(await ids(database.reader), [])
    })

    it('leaves nothing when its work throws before any promise', async () => {
      const database = await openNotes(engine)
      const failing = database.transaction(() => {
        throw new Error('at once')
      })
      await assert.rejects(failing, { message: 'at once' })
      await database.transaction((tx) => write(tx, 1))
    })

    it('cannot commit after a failed statement, even when its error is caught', async () => {
      const database = await openNotes(engine)
      await database.transaction((tx) => write(tx, 1))
      const swallowing = database.transaction(async (tx) => {
        await write(tx, 2)
        await write(tx, 1).catch(() => {})
      })
      await assert.rejects(swallowing, /unique/i)
      const goingOn = database.transaction(async (tx) => {
        await write(tx, 1).catch(() => {})
        await write(tx, 3)
      })
      await assert.rejects(goingOn, /earlier statement/)
      assert.deepEqual(await ids(database.reader), [1])
    })

    it('refuses queries after its end, whichever way it ended', async () => {
      const database = await openNotes(engine)
      let kept: Transaction | undefined
      await database.transaction(async (tx) => {
        kept = tx
      })
      assert(kept !== undefined)
      await assert.rejects(ids(kept), /has ended/)
      await database
        .transaction(async (tx) => {
          kept = tx
          throw new Error('no')
        })
        .catch(() => {})
      await assert.rejects(write(kept, 1), /has ended/)
      assert.deepEqual(await ids(database.reader), [])
    })

    it('takes in statements that its work did not wait for', async () => {
      const database = await openNotes(engine)
      await database.transaction(async (tx) => {
        void write(tx, 1)
        void write(tx, 2)
      })
      assert.deepEqual(await ids(database.reader), [1, 2])
    })

    it('runs statements that were started together one after the other', async () => {
      const database = await openNotes(engine)
      await database.transaction(async (tx) => {
        await Promise.all([1, 2, 3, 4].map((id) => write(tx, id)))
      })
      assert.deepEqual(await ids(database.reader), [1, 2, 3, 4])
    })

    it('refuses transactions, snapshots and the reader inside', async () => {
      const database = await openNotes(engine)
      await database.transaction(async () => {
        await assert.rejects(
          database.transaction(async () => {}),
          /inside a transaction/,
        )
        await assert.rejects(
          database.snapshot(async () => {}),
          /inside a transaction/,
        )
        await assert.rejects(ids(database.reader), /inside a transaction/)
      })
    })

    it("refuses Kysely's own transactions, which would pass the queue and the durability", async () => {
      const database = await openNotes(engine)
      await assert.rejects(database.reader.transaction().execute(async () => {}))
    })

    it('is known to those who run inside it, and to nobody else', async () => {
      const database = await openNotes(engine)
      const seen: boolean[] = [insideTransaction()]
      let later: (() => void) | undefined
      const straggler = Promise.withResolvers<void>()
      await database.transaction(async (tx) => {
        await ids(tx)
        seen.push(insideTransaction())
        void straggler.promise.then(() => seen.push(insideTransaction()))
        later = straggler.resolve
      })
      later?.()
      await nextRound()
      assert.deepEqual(seen, [false, true, false])
      assert.equal(await database.snapshot(async () => insideTransaction()), false)
    })

    it('refuses parameters that the engines would store differently', async () => {
      const database = await openNotes(engine)
      for (const value of [undefined, true, new Date(), {}, Number.NaN, 2 ** 60, 2n ** 63n]) {
        await assert.rejects(
          database.transaction(async (tx) => {
            await sql`insert into notes (id, body) values (1, ${value})`.execute(tx)
          }),
          /Parameter 1/,
        )
      }
    })

    it('counts the rows that a change touched', async () => {
      const database = await openNotes(engine)
      await database.transaction(async (tx) => {
        await Promise.all([1, 2, 3].map((id) => write(tx, id)))
        const { numAffectedRows } = await sql`update notes set body = 'x' where id > 1`.execute(tx)
        assert.equal(numAffectedRows, 2n)
      })
    })

    it('fails as unavailable once the database is closed', async () => {
      const database = await openNotes(engine)
      await database[Symbol.asyncDispose]()
      await assert.rejects(
        database.transaction(async () => {}),
        DatabaseUnavailable,
      )
      await assert.rejects(database.probe(), DatabaseUnavailable)
      await database[Symbol.asyncDispose]()
    })
  })

  describe('effects of a commit', () => {
    it('run in order, after the commit, outside of the transaction', async () => {
      const database = await openNotes(engine)
      const order: unknown[] = []
      await database.transaction(async (tx) => {
        onCommit(tx, () => order.push(1))
        onCommit(tx, () => order.push(insideTransaction()))
        await write(tx, 1)
        order.push('work')
      })
      order.push('resolved')
      assert.deepEqual(order, ['work', 1, false, 'resolved'])
    })

    it('never run after a rollback, and only once when the work was repeated', async () => {
      const database = await openNotes(engine)
      const effects: string[] = []
      await database
        .transaction(async (tx) => {
          onCommit(tx, () => effects.push('rolled back'))
          throw new Error('no')
        })
        .catch(() => {})
      let runs = 0
      await database.transaction(async (tx) => {
        runs++
        onCommit(tx, () => effects.push(`run ${runs}`))
        if (runs < 3) throw conflict(engine.name)
      })
      assert.deepEqual(effects, ['run 3'])
    })

    it('are reported when they throw, and the others still run', async () => {
      const { reports, report } = collectReports()
      const database = await openNotes(engine, report)
      let ran = false
      await database.transaction(async (tx) => {
        onCommit(tx, () => {
          throw new Error('effect')
        })
        onCommit(tx, () => {
          ran = true
        })
      })
      assert(ran)
      assert.equal(reports.length, 1)
    })

    it('are refused once the transaction has ended', async () => {
      const database = await openNotes(engine)
      const kept = await database.transaction(async (tx) => [tx])
      assert.throws(() => onCommit(kept[0] as Transaction, () => {}), /still running/)
    })
  })
})

/** What the engine would say about a conflict. */
const conflict = (engine: 'sqlite' | 'postgres'): Error =>
  engine === 'sqlite'
    ? Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 })
    : Object.assign(new DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' })
