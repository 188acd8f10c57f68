import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type Compilable, CompiledQuery, sql } from 'kysely'
import { Catalog } from '../../../test/harness/catalog.ts'
import { closeConnections } from '../../../test/harness/client.ts'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { inDatabase } from '../../../test/harness/rows.ts'
import type { Queries } from '../../database/database.ts'
import { stretchAfter } from '../../kernel/sequence.ts'
import { listPromotionRows } from './promotions.queries.ts'

after(closeConnections)

const lines = 20_000

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.close())

  const planOf = async (q: Queries, query: Compilable): Promise<string> => {
    const { sql: text, parameters } = query.compile()
    const explain = engine.name === 'sqlite' ? 'explain query plan' : 'explain'
    const { rows } = await q.executeQuery(CompiledQuery.raw(`${explain} ${text}`, [...parameters]))
    return JSON.stringify(rows)
  }

  it('is read from indexes of its own, however long the rest of the journal is', async () => {
    const id = await catalog.published()
    const { repository } = catalog
    await inDatabase(catalog.service, async (q) => {
      const head = await q.selectFrom('repositories').select('journal_head').where('id', '=', repository).execute()
      const from = head[0]?.journal_head ?? 0
      await sql`
        insert into journal (repository, sequence, action, artifact_id, actor, occurred_at)
        with recursive n (n) as (select 1 union all select n + 1 from n where n < ${sql.lit(lines)})
        select ${repository}, ${sql.lit(from)} + n,
          case when n % 1000 = 0 then 'stage.added' else 'artifact.publish' end, ${id}, 'account:x', ''
        from n`.execute(q)
      await q
        .updateTable('repositories')
        .set({ journal_head: from + lines })
        .where('id', '=', repository)
        .execute()
      await sql`analyze journal`.execute(q)
      const all = stretchAfter('asc', undefined)
      const whole = listPromotionRows(q, { repository, artifactId: null }, all, 51)
      const one = listPromotionRows(q, { repository, artifactId: id }, all, 51)
      assert.match(await planOf(q, whole), /journal_promotions\b/)
      assert.match(await planOf(q, one), /journal_promotions/)
      assert.equal((await whole.execute()).length, lines / 1_000)
    })
  })
})
