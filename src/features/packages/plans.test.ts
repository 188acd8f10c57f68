import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onSqlite } from '../../../test/harness/engines.ts'
import { plansOf } from '../../../test/harness/sqlite-plans.ts'
import { listPackageRows } from './listing.queries.ts'
import { intervalsOf } from './ranges.ts'
import { findHighest, findLatestPromoted } from './resolve.queries.ts'

onSqlite((engine) => {
  it('lists packages in every order by an index, without sorting', async () => {
    const after = { group_key: 'g', name_key: 'n', version_key: 'v' }
    const plans = await plansOf(engine, async (q) => {
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
    const plans = await plansOf(engine, async (q) => {
      for (const order of ['group', 'name', 'version'] as const) await listPackageRows(q, { ...page, order })
    })
    for (const plan of plans) assert.match(plan, /\(repository=\? AND \((\w+,)+\w+\)>\(\?,\?,\?\)\)/, plan)
  })

  it('resolves by looks into an index, one for each interval, and by stages without reading anything else', async () => {
    const of = { repository: 'r', groupKey: 'g', nameKey: 'n' }
    const intervals = intervalsOf('^1.2.0 || ^3.0.0-rc.1 || 5.x', true)
    const all = await plansOf(engine, (q) => findHighest(q, of, null, intervals))
    const looks = all.filter((plan) => plan.startsWith('SEARCH packages'))
    assert.equal(looks.length, intervals.length)
    for (const look of looks)
      assert.match(
        look,
        /packages_by_precedence \(repository=\? AND group_key=\? AND name_key=\? AND prerelease=\? AND version_key>\?/,
      )
    const inStage = await plansOf(engine, (q) => findHighest(q, of, 's', intervals))
    for (const look of inStage.filter((plan) => plan.startsWith('SEARCH package_stages')))
      assert.match(
        look,
        /COVERING INDEX package_stages_by_precedence \(.* AND stage=\? AND prerelease=\? AND version_key>\?/,
      )
    const promoted = await plansOf(engine, (q) => findLatestPromoted(q, of, 's', intervals))
    assert.ok(
      promoted.some((plan) =>
        /SEARCH package_stages USING COVERING INDEX package_stages_by_promotion \(.* AND stage=\?\)/.test(plan),
      ),
      promoted.join('\n'),
    )
  })
})
