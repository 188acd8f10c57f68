import assert from 'node:assert/strict'
import { it } from 'node:test'
import { quotaCriticalPercent, quotaWarningPercent } from './limits/lifecycle.ts'
import { usageState } from './usage-state.ts'

const percents = { warningPercent: quotaWarningPercent, criticalPercent: quotaCriticalPercent }

it('usage is called by its share of the quota', () => {
  for (const [reserved, quota, state] of [
    [5, null, 'unlimited'],
    [0, 100, 'normal'],
    [79, 100, 'normal'],
    [80, 100, 'warning'],
    [94, 100, 'warning'],
    [95, 100, 'critical'],
    [100, 100, 'critical'],
    [101, 100, 'exceeded'],
    [0, 0, 'critical'],
    [1, 0, 'exceeded'],
    [9_000_000_000_000_000, 9_007_199_254_740_991, 'critical'],
  ] as const)
    assert.equal(usageState(reserved, quota, percents), state, `${reserved} of ${quota}`)
})
