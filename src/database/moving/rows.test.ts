import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import { exportPage } from '../../kernel/limits/engines.ts'
import type { Database } from '../database.ts'
import type { Row } from './rows.queries.ts'
import { movedRows, movedTexts, refuseUnreadable, rowOf, rowText } from './rows.ts'
import { movingTables, type TableName } from './tables.ts'

test('a row is one line of JSON, with or without bytes in it, and is read as it was', () => {
  const plain = { id: 'one', note: 'two\nlines, "quoted", and ü', size: 3, until: null }
  assert.equal(rowText(plain), '{"id":"one","note":"two\\nlines, \\"quoted\\", and ü","size":3,"until":null}')
  const bytes = { ...plain, bytes: Buffer.from([0, 255]), none: new Uint8Array() }
  assert.equal(rowText(bytes), `${rowText(plain).slice(0, -1)},"bytes":{"base64":"AP8="},"none":{"base64":""}}`)
  assert.deepEqual(rowOf(rowText(plain), ['id', 'note', 'size', 'until']), plain)
  const read = rowOf(rowText(bytes), ['bytes', 'id', 'none', 'note', 'size', 'until'])
  assert.deepEqual(read, { ...bytes, none: Buffer.alloc(0) })
  assert.throws(() => rowOf(rowText(plain), ['id', 'note', 'size']), RangeError)
})

test('what holds a number that no row can have is refused, and a text that only looks like it is not', () => {
  const refused = (text: string) => () => refuseUnreadable(Buffer.from(text))
  assert.throws(refused('{"id":"one","size":9007199254740993}\n'), /9007199254740993/)
  assert.throws(refused('{"id":"one"}\n{"size":-9007199254740993,"id":"two"}\n'), RangeError)
  refused('{"id":"one","size":9007199254740991}\n')()
  refused(`${rowText({ id: 'one', note: '{"size":9007199254740993,"n":90071992547409930}' })}\n`)()
})

forEachEngine((engine) => {
  describe('the texts of rows', () => {
    const table = (wanted: TableName) => {
      const found = movingTables().find(({ name }) => name === wanted)
      assert.ok(found !== undefined)
      return found
    }
    /** What the engine makes of them, and what we make of the same rows. */
    const both = async (database: Database, name: TableName) =>
      await database.snapshot(async (q) => {
        const texts = (await Array.fromAsync(movedTexts(q, database.engine, table(name)))).flat()
        const rows = (await Array.fromAsync(movedRows(q, table(name)))).flat()
        return { texts, rows }
      })

    it('are those that we would make of them, whatever is in them, page by page', async () => {
      const { database } = await openOwnEngines(engine)
      const controls = Array.from({ length: 31 }, (_, n) => String.fromCharCode(n + 1)).join('')
      const odd = `${controls}\x7f\x80\u2028\u2029\ufeff\ufffe "quoted" \\ / ü 语 😀 ${'\u0301'.repeat(3)} '--`
      const count = 2 * exportPage + 1
      await database.transaction(async (tx) => {
        for (let at = 1; at <= count; at++)
          await sql`insert into journal (repository, sequence, action, artifact_id, detail, actor, occurred_at)
            values ('releases', ${at === count ? Number.MAX_SAFE_INTEGER : at}, 'artifact.publish', ${odd}, ${at % 3 === 0 ? null : `${odd}${at}`}, '', '')`.execute(
            tx,
          )
      })
      const { texts, rows } = await both(database, 'journal')
      assert.equal(rows.length, count)
      assert.deepEqual(texts, rows.map(rowText))
      const columns = Object.keys(rows[0] ?? {}).sort()
      assert.deepEqual(
        texts.map((text) => rowOf(text, columns)),
        rows,
      )
      refuseUnreadable(Buffer.from(texts.join('\n')))
    })

    it('are ours where bytes are in them, and where rows change', async () => {
      const { database } = await openOwnEngines(engine)
      const row: Row = { generation: 'g', sha256: 'x', bytes: Buffer.from([0, 10, 34, 255]) }
      await database.transaction(async (tx) => {
        await sql`insert into inline_bytes (generation, sha256, bytes)
          values (${row['generation']}, ${row['sha256']}, ${row['bytes']})`.execute(tx)
        await sql`insert into reclaim_candidates (sha256, since) values ('x', '')`.execute(tx)
        await sql`update repositories set pending_bytes = 7`.execute(tx)
      })
      assert.deepEqual((await both(database, 'inline_bytes')).texts, [rowText(row)])
      const { texts } = await both(database, 'repositories')
      assert.ok(texts.length > 0 && texts.every((text) => text.includes('"pending_bytes":0,')), texts.join())
    })
  })
})
