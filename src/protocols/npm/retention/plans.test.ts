import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onSqlite } from '../../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../../test/harness/own-engines.ts'
import { plansOf } from '../../../../test/harness/query-plans.ts'
import { countNpmVersions, newestNpmVersions, nthNewestNpmVersion, oldestNpmVersions } from './counted.queries.ts'

const position = { at: '2026', id: 'x' }

onSqlite((engine) => {
  it('counts npm versions and finds the newest and oldest of them by indexes, without sorting and without reading rows', async () => {
    const { database } = await openOwnEngines(engine)
    const plans = await plansOf(database.reader, async (q) => {
      for (const counted of [{ name: 'n' }, null]) {
        await nthNewestNpmVersion(q, 'r', counted, 5)
        await newestNpmVersions(q, 'r', counted, null, 10)
        await newestNpmVersions(q, 'r', counted, position, 10)
        await oldestNpmVersions(q, 'r', counted, { after: null, before: position }, 10)
        await oldestNpmVersions(q, 'r', counted, { after: position, before: position }, 10)
      }
    })
    assert.equal(plans.length, 10)
    for (const plan of plans)
      assert.match(plan, /^SEARCH npm_versions USING COVERING INDEX npm_versions_\w*by_age \(repository=\?/)
    const pages = await plansOf(database.reader, (q) => countNpmVersions(q, 'r', { name: 'n' }, 100))
    assert.ok(
      pages.some((plan) => /SEARCH npm_versions USING COVERING INDEX \w+ \(repository=\? AND name>\?\)/.test(plan)),
      pages.join('\n'),
    )
  })
})
