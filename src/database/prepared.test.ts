import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../test/harness/engines.ts'
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
