import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../test/harness/engines.ts'
import { ids, openNotes, write } from './notes.suite.ts'

/** Where order by UTF-16 units, by locale or by folded case would differ from order by UTF-8 bytes. */
const awkward = [
  '',
  ' ',
  'A',
  'Z',
  'a',
  'z',
  'aa',
  'a b',
  'a-b',
  'a_b',
  'é',
  'e\u0301',
  'ß',
  'ss',
  'Ω',
  'я',
  '\u{ffee}',
  '￿',
  '𐀀',
  '😀',
  'ı',
  'I',
  'i',
  'İ',
]

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

forEachEngine((engine) => {
  describe('the reader', () => {
    it('cannot write, and goes on reading', async () => {
      const database = await openNotes(engine)
      await assert.rejects(write(database.reader, 1), /read.?only/i)
      await assert.rejects(sql`create table more (id integer)`.execute(database.reader), /read.?only/i)
      assert.deepEqual(await ids(database.reader), [])
    })

    it('answers plain objects with numbers, strings, nulls and bytes', async () => {
      const database = await openNotes(engine)
      await database.transaction((tx) => write(tx, Number.MAX_SAFE_INTEGER, 'text'))
      const { rows } = await sql`
        select id, body, null as absent, count(*) as many, sum(id) as total, exists (select 1) as yes, 1 = 2 as no, 0.5 as half
        from notes group by id, body`.execute(database.reader)
      const [id, total] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
      assert.deepEqual(rows, [{ id, body: 'text', absent: null, many: 1, total, yes: 1, no: 0, half: 0.5 }])
    })

    it('refuses integers that a number cannot hold', async () => {
      const database = await openNotes(engine)
      await database.transaction(async (tx) => {
        await sql`insert into notes (id, body) values (${2n ** 53n + 1n}, '')`.execute(tx)
      })
      await assert.rejects(ids(database.reader), RangeError)
    })

    it('carries bytes as they are', async () => {
      const database = await openNotes(engine)
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
      const type = sql.raw(engine.name === 'sqlite' ? 'blob' : 'bytea')
      const { rows } = await sql<{ bytes: Uint8Array }>`select cast(${bytes} as ${type}) as bytes`.execute(
        database.reader,
      )
      assert(rows[0]?.bytes instanceof Uint8Array)
      assert.deepEqual(new Uint8Array(rows[0].bytes), bytes)
    })

    it('sorts, compares and finds text by its bytes', async () => {
      const database = await openNotes(engine)
      await database.transaction(async (tx) => {
        for (const [index, text] of awkward.entries()) await write(tx, index, text)
      })
      const { rows } = await sql<{ body: string }>`select body from notes order by body`.execute(database.reader)
      assert.deepEqual(
        rows.map((row) => row.body),
        awkward.toSorted(byBytes),
      )
      const after = await sql<{ body: string }>`select body from notes where body > ${'￮'} order by body`.execute(
        database.reader,
      )
      assert.deepEqual(
        after.rows.map((row) => row.body),
        awkward.filter((text) => byBytes(text, '￮') > 0).toSorted(byBytes),
      )
    })

    it('minds case in like', async () => {
      const database = await openNotes(engine)
      const { rows } = await sql`select ${'ABC'} like 'abc%' as other, ${'abc'} like 'abc%' as same`.execute(
        database.reader,
      )
      assert.deepEqual(rows, [{ other: 0, same: 1 }])
    })

    it('takes row locks in a query that serves both engines', async () => {
      const database = await openNotes(engine)
      await database.transaction(async (tx) => {
        await sql`insert into notes (id, body) values (1, '')`.execute(tx)
        const query = tx.selectFrom(sql<{ id: number }>`notes`.as('n')).select('n.id')
        assert.deepEqual(await query.forUpdate().skipLocked().execute(), [{ id: 1 }])
        assert.deepEqual(await query.distinct().execute(), [{ id: 1 }])
      })
    })
  })

  describe('a snapshot', () => {
    it('stays the same while others write, from its beginning on', async () => {
      const database = await openNotes(engine)
      await database.transaction((tx) => write(tx, 1))
      await database.snapshot(async (q) => {
        await database.transaction((tx) => write(tx, 2))
        assert.deepEqual(await ids(q), [1])
        assert.deepEqual(await ids(database.reader), [1, 2])
        await database.transaction((tx) => write(tx, 3))
        assert.deepEqual(await ids(q), [1])
      })
      assert.deepEqual(await database.snapshot(ids), [1, 2, 3])
    })

    it('cannot write', async () => {
      const database = await openNotes(engine)
      await assert.rejects(
        database.snapshot((q) => write(q, 1)),
        /read.?only/i,
      )
      await database.snapshot(async () => {})
    })

    it('waits for its turn when many are taken at once', async () => {
      const database = await openNotes(engine)
      await database.transaction((tx) => write(tx, 1))
      const answers = await Promise.all(Array.from({ length: 40 }, () => database.snapshot(ids)))
      assert.deepEqual(
        answers.flat(),
        Array.from({ length: 40 }, () => 1),
      )
    })
  })

  it('settles at once when nothing was written', async () => {
    const database = await openNotes(engine)
    await database.settled()
    await database.probe()
  })
})
