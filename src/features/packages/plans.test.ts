import assert from 'node:assert/strict'
import { it } from 'node:test'
import { CompiledQuery, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { onSqlite } from '../../../test/harness/engines.ts'
import { openOwnParts } from '../../../test/harness/own-parts.ts'
import type { Queries } from '../../database/database.ts'
import type { Tables } from '../../database/tables/index.ts'
import { listPackageRows } from './listing.queries.ts'
import { intervalsOf } from './ranges.ts'
import { findHighest, findLatestPromoted } from './resolve.queries.ts'

/** The statements that the work would run, none of which is. */
const statementsOf = async (work: (q: Queries) => Promise<unknown>): Promise<CompiledQuery[]> => {
  const seen: CompiledQuery[] = []
  const driver = new DummyDriver()
  const noting = Object.assign(driver, {
    acquireConnection: async () => {
      const connection = await new DummyDriver().acquireConnection()
      return Object.assign(connection, {
        executeQuery: async (query: CompiledQuery) => {
          seen.push(query)
          return { rows: [] }
        },
      })
    },
  })
  const dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => noting,
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  await work(new Kysely<Tables>({ dialect }))
  return seen
}

onSqlite((engine) => {
  const plansOf = async (work: (q: Queries) => Promise<unknown>): Promise<string[]> => {
    const { database } = await openOwnParts(engine)
    const statements = await statementsOf(work)
    assert.ok(statements.length > 0)
    const plans: string[] = []
    for (const { sql, parameters } of statements) {
      const explained = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
      const { rows } = await database.reader.executeQuery<{ detail: string }>(explained)
      plans.push(...rows.map(({ detail }) => detail))
    }
    return plans
  }

  it('lists packages in every order by an index, without sorting', async () => {
    const after = { group_key: 'g', name_key: 'n', version_key: 'v' }
    const plans = await plansOf(async (q) => {
      for (const order of ['group', 'name', 'version'] as const)
        for (const descending of [true, false])
          for (const groupKey of ['g', null])
            for (const nameKey of ['n', null])
              for (const from of [after, null])
                await listPackageRows(q, {
                  repository: 'r',
                  order,
                  descending,
                  groupKey,
                  nameKey,
                  after: from,
                  limit: 51,
                })
    })
    assert.equal(plans.length, 48)
    for (const plan of plans) assert.match(plan, /^SEARCH packages USING INDEX packages_\w+ \(repository=\?/)
  })

  it('goes on after a page without reading what was before it', async () => {
    const after = { group_key: 'g', name_key: 'n', version_key: 'v' }
    const page = { repository: 'r', descending: false, groupKey: null, nameKey: null, after, limit: 51 }
    const plans = await plansOf(async (q) => {
      for (const order of ['group', 'name', 'version'] as const) await listPackageRows(q, { ...page, order })
    })
    for (const plan of plans) assert.match(plan, /\(repository=\? AND \((\w+,)+\w+\)>\(\?,\?,\?\)\)/, plan)
  })

  it('resolves by looks into an index, one for each interval, and by stages without reading anything else', async () => {
    const of = { repository: 'r', groupKey: 'g', nameKey: 'n' }
    const intervals = intervalsOf('^1.2.0 || ^3.0.0-rc.1 || 5.x', true)
    const all = await plansOf((q) => findHighest(q, of, null, intervals))
    const looks = all.filter((plan) => plan.startsWith('SEARCH packages'))
    assert.equal(looks.length, intervals.length)
    for (const look of looks)
      assert.match(
        look,
        /packages_by_precedence \(repository=\? AND group_key=\? AND name_key=\? AND prerelease=\? AND version_key>\?/,
      )
    const inStage = await plansOf((q) => findHighest(q, of, 's', intervals))
    for (const look of inStage.filter((plan) => plan.startsWith('SEARCH package_stages')))
      assert.match(
        look,
        /COVERING INDEX package_stages_by_precedence \(.* AND stage=\? AND prerelease=\? AND version_key>\?/,
      )
    const promoted = await plansOf((q) => findLatestPromoted(q, of, 's', intervals))
    assert.ok(
      promoted.some((plan) =>
        /SEARCH package_stages USING COVERING INDEX package_stages_by_promotion \(.* AND stage=\?\)/.test(plan),
      ),
      promoted.join('\n'),
    )
  })
})
