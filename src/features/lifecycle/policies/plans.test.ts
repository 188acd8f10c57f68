import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onSqlite } from '../../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../../test/harness/own-engines.ts'
import { plansOf } from '../../../../test/harness/query-plans.ts'
import { storageEventsBeyond } from '../../../journal/storage-events/storage-events.queries.ts'
import { duePolicies } from './policy.queries.ts'
import { countVersions, newestVersions, nthNewest, oldestVersions } from './versions.queries.ts'

const position = { at: '2026', id: 'x' }
const groups = [{ group_key: 'g', name_key: 'n' }, null] as const

onSqlite((engine) => {
  it('counts versions and finds the newest and oldest of them by indexes, without sorting and without reading rows', async () => {
    const { database } = await openOwnEngines(engine)
    const plans = await plansOf(database.reader, async (q) => {
      for (const group of groups) {
        await nthNewest(q, 'r', group, 5)
        await newestVersions(q, 'r', group, null, 10)
        await newestVersions(q, 'r', group, position, 10)
        await oldestVersions(q, 'r', group, { after: null, before: position }, 10)
        await oldestVersions(q, 'r', group, { after: position, before: position }, 10)
      }
    })
    assert.equal(plans.length, 10)
    for (const plan of plans)
      assert.match(plan, /^SEARCH packages USING COVERING INDEX packages_\w*by_age \(repository=\?/)
  })

  it('goes on after a page of packages without reading what was before it', async () => {
    const { database } = await openOwnEngines(engine)
    const plans = await plansOf(database.reader, (q) => countVersions(q, 'r', { group_key: 'g', name_key: 'n' }, 100))
    assert.ok(
      plans.some((plan) =>
        /SEARCH packages USING COVERING INDEX \w+ \(repository=\? AND \(group_key,name_key\)>\(\?,\?\)\)/.test(plan),
      ),
      plans.join('\n'),
    )
  })

  it('finds due policies and the oldest events by indexes', async () => {
    const { database } = await openOwnEngines(engine)
    const due = await plansOf(database.reader, (q) => duePolicies(q, '2026', { next_run_at: '', repository: '' }, 10))
    for (const plan of due) assert.match(plan, /storage_policies USING INDEX storage_policies_due/)
    const events = await plansOf(database.reader, (q) => storageEventsBeyond(q, 20_000, 10))
    for (const plan of events) assert.match(plan, /storage_events USING COVERING INDEX storage_events_by_time/)
  })
})
