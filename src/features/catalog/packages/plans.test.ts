import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { forEachEngine, onSqlite } from '../../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../../test/harness/own-engines.ts'
import { analyze, plansOf } from '../../../../test/harness/query-plans.ts'
import type { Database, Queries } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { newId } from '../../../kernel/ids.ts'
import { listPackageRows } from './listing.queries.ts'
import { intervalsOf } from './ranges.ts'
import { findHighest, findLatestPromoted } from './resolve.queries.ts'
import { parseVersion, versionKey } from './version-order.ts'

onSqlite((engine) => {
  it('lists packages in every order by an index, without sorting', async () => {
    const { database } = await openOwnEngines(engine)
    const after = { group_key: 'g', name_key: 'n', version_key: 'v' }
    const plans = await plansOf(database.reader, async (q) => {
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
    const { database } = await openOwnEngines(engine)
    const after = { group_key: 'g', name_key: 'n', version_key: 'v' }
    const page = { repository: 'r', descending: false, groupKey: null, nameKey: null, after, limit: 51 }
    const plans = await plansOf(database.reader, async (q) => {
      for (const order of ['group', 'name', 'version'] as const) await listPackageRows(q, { ...page, order })
    })
    for (const plan of plans) assert.match(plan, /\(repository=\? AND \((\w+,)+\w+\)>\(\?,\?,\?\)\)/, plan)
  })
})

/** Many versions of one package among packages that have one. */
const of = { repository: 'releases', groupKey: 'g', nameKey: 'busy' }
const others = 300
const versions = 3_000

forEachEngine((engine) => {
  let database: Database
  let url: string

  const fill = (names: readonly (readonly [name: string, version: string])[]): Promise<void> =>
    database.transaction(async (tx) => {
      const rows = names.map(([name, version]) => ({
        id: newId(Date.now()),
        name,
        parsed: parseVersion(version),
        version,
      }))
      const common = { repository: of.repository, published_at: 'x' }
      const file = { ...common, name: 'f', size: 1, sha256: 'x', created_at: 'x', expires_at: 'x' }
      await tx
        .insertInto('artifacts')
        .values(rows.map(({ id }) => ({ ...file, id, labels: '[]', metadata: '{}' })))
        .execute()
      const keys = rows.map(({ id, name, parsed }) => {
        assert.ok(parsed !== null)
        const prerelease: 0 | 1 = parsed.prerelease.length > 0 ? 1 : 0
        const key = { group_key: of.groupKey, name_key: name, prerelease, version_key: versionKey(parsed) }
        return { artifact_id: id, repository: of.repository, ...key }
      })
      const said = { group_name: of.groupKey, registered_at: 'x', published_at: 'x', manifest_bytes: 2, manifest: '{}' }
      await tx
        .insertInto('packages')
        .values(keys.map((key) => ({ ...key, ...said, name: key.name_key, version: '1.0.0' })))
        .execute()
      const [stage, promoted_at] = ['tested', new Date().toISOString()]
      const reached = { repository: of.repository, stage, promoted_at, actor: 'x', comment: null }
      await tx
        .insertInto('artifact_stages')
        .values(rows.map(({ id }) => ({ ...reached, artifact_id: id })))
        .execute()
      await tx
        .insertInto('package_stages')
        .values(keys.map((key) => ({ ...key, stage, promoted_at })))
        .execute()
    })

  before(async () => {
    url = await engine.readyDatabaseUrl()
    database = await openDatabase({ url, report: () => {} })
    await migrate(database, migrations)
    await database.transaction(async (tx) => {
      await tx
        .insertInto('blobs')
        .values({ sha256: 'x', size: 1, state: 'stored', stored_at: null, generation: '' })
        .execute()
    })
    await fill(Array.from({ length: others }, (_, index) => [`other-${index}`, '1.0.0']))
    await analyze(url)
    for (let at = 0; at < versions; at += 1_000)
      await fill(Array.from({ length: 1_000 }, (_, i) => ['busy', `${at + i}.0.0${i % 2 === 0 ? '-rc.1' : ''}`]))
  })
  after(() => database[Symbol.asyncDispose]())

  const whenKnown = {
    'as long as the planner believes that a package has one version': () => Promise.resolve(),
    'and when it knows better': () => analyze(url),
  }
  for (const [when, learn] of Object.entries(whenKnown))
    describe(`resolving, ${when},`, () => {
      before(learn)
      // The text is the same for all of them.
      const intervals = intervalsOf('^1.2.0 || ^3.0.0-rc.1 || 5.x', true)
      const bounds =
        engine.name === 'sqlite'
          ? /by_precedence \(\(repository,group_key,name_key,(?:stage,)?prerelease,version_key\)>\([?,]+\) AND \(repository,.*,version_key\)<\(/
          : /Index Cond: .*ROW\(repository, .*, prerelease, version_key\) >= ROW\(.*ROW\(repository, .*, version_key\) <= ROW\(/
      const checkPlans = async (
        work: (q: Queries) => Promise<unknown>,
        indexes: readonly string[],
        never = /Seq Scan|Sort|TEMP B-TREE FOR ORDER|SCAN (?:v|p|s|a)\b/,
      ): Promise<void> => {
        const plans = await plansOf(database.reader, work)
        assert.equal(plans.length, engine.name === 'sqlite' ? 1 : 2)
        for (const plan of plans) {
          const lines = plan.split('\n')
          const used = lines.flatMap((line) => /(?:INDEX|using|Index Scan on) (package\w+)/.exec(line)?.[1] ?? [])
          // What is chosen is then read by its id.
          const chosenBy = [...new Set(used)].filter((name) => !name.endsWith('key')).sort()
          assert.deepEqual(chosenBy, indexes, plan)
          assert.doesNotMatch(plan, never, plan)
          assert.match(plan, bounds, plan)
          // Where many rows are expected, only an index in the right order will do; for one row any index would.
          const expected = [...plan.matchAll(/using package\w+_by_\w+ on .* rows=(\d+)/g)].map(([, rows]) =>
            Number(rows),
          )
          assert.ok(engine.name === 'sqlite' || (expected.length > 0 && Math.min(...expected) > 10), plan)
        }
      }
      it('is a look into the index of precedence for each interval', () =>
        checkPlans((q) => findHighest(q, of, null, intervals), ['packages_by_precedence']))
      it('does the same by a stage', () =>
        checkPlans((q) => findHighest(q, of, 'tested', intervals), ['package_stages_by_precedence']))
      it('goes along the intervals, or along the promotions where there are many', () =>
        checkPlans(
          (q) => findLatestPromoted(q, of, 'tested', intervals),
          ['package_stages_by_precedence', 'package_stages_by_promotion'],
          // A small table's few hundred versions may well be read at once and then sorted.
          /Seq Scan|TEMP B-TREE FOR ORDER|SCAN (?:v|p|s|a)\b/,
        ))
    })
})
