import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../test/harness/engines.ts'
import type { Queries } from './database.ts'
import { openNotes, write } from './notes.suite.ts'
import { type Parameters, prepareQuery } from './prepared.ts'

interface Note {
  id: number
  body: string
}

forEachEngine((engine) => {
  it('runs a query again and again with other values, on the reader, in transactions and snapshots', async () => {
    const database = await openNotes(engine)
    let built = 0
    const find = prepareQuery((q, p: Parameters<{ from: number; body: string; most: number }>) => {
      built++
      return q
        .selectFrom(sql<Note>`notes`.as('n'))
        .select(['n.id', 'n.body'])
        .where('n.id', '>=', p('from'))
        .where((eb) => eb.or([eb('n.body', '=', p('body')), eb('n.body', '=', 'always')]))
        .orderBy('n.id')
        .limit(p('most'))
    })
    await database.transaction(async (tx) => {
      await write(tx, 1, 'a')
      await write(tx, 2, 'b')
      await write(tx, 3, 'always')
      assert.deepEqual(await find(tx, { from: 1, body: 'a', most: 9 }), [
        { id: 1, body: 'a' },
        { id: 3, body: 'always' },
      ])
    })
    assert.deepEqual(await find(database.reader, { from: 2, body: 'b', most: 1 }), [{ id: 2, body: 'b' }])
    assert.deepEqual(await database.snapshot((q) => find(q, { from: 4, body: '', most: 1 })), [])
    assert.equal(built, 1)
  })

  it('goes on with a plan that is kept, whatever the values, also after a transaction that failed', async () => {
    const database = await openNotes(engine)
    const find = prepareQuery(
      (q, p: Parameters<{ from: number }>) =>
        q
          .selectFrom(sql<Note>`notes`.as('n'))
          .select(['n.id', 'n.body'])
          .where('n.id', '>=', p('from'))
          .orderBy('n.id'),
      { planned: 'once' },
    )
    const ids = async (q: Queries, from: number) => (await find(q, { from })).map(({ id }) => id)
    const failing = database.transaction(async (tx) => {
      await write(tx, 1, 'a')
      assert.deepEqual(await ids(tx, 0), [1])
      throw new Error('on purpose')
    })
    await assert.rejects(failing, /on purpose/)
    assert.deepEqual(await ids(database.reader, 0), [])
    await database.transaction(async (tx) => {
      for (let id = 1; id <= 20; id++) await write(tx, id, String(id))
      assert.deepEqual(await ids(tx, 19), [19, 20])
    })
    for (let from = 1; from <= 20; from++)
      assert.deepEqual(
        await ids(database.reader, from),
        Array.from({ length: 21 - from }, (_, index) => from + index),
      )
    if (engine.name === 'sqlite') return
    const kept = await sql<{ plans: number }>`select generic_plans as plans from pg_prepared_statements
      where name like 'svc_%' and statement like '%notes%'`.execute(database.reader)
    assert.ok((kept.rows[0]?.plans ?? 0) > 0, 'the server made a plan each time')
  })

  it('names a value that is missing', async () => {
    const database = await openNotes(engine)
    const find = prepareQuery((q, p: Parameters<{ body: string }>) =>
      q.selectFrom(sql<Note>`notes`.as('n')).select('n.id').where('n.body', '=', p('body')),
    )
    const incomplete: object = {}
    await assert.rejects(find(database.reader, incomplete as { body: string }), /Parameter 1 is undefined/)
  })

  it('keeps texts of the two engines apart', async () => {
    const lock = prepareQuery((q, p: Parameters<{ id: number }>) =>
      q.selectFrom(sql<Note>`notes`.as('n')).select('n.id').where('n.id', '=', p('id')).forUpdate(),
    )
    const database = await openNotes(engine)
    await database.transaction(async (tx) => {
      await write(tx, 1)
      assert.deepEqual(await lock(tx, { id: 1 }), [{ id: 1 }])
    })
  })
})
