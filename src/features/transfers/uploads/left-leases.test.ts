import assert from 'node:assert/strict'
import { it } from 'node:test'
import { leftLeasesMax } from '../../../kernel/limits/transfers.ts'
import { createLeftLeases } from './left-leases.ts'

it('turns that were left are remembered up to a limit, the newest ones', () => {
  const left = createLeftLeases()
  assert.equal(left.has('0'), false)
  for (let lease = 0; lease <= leftLeasesMax; lease++) left.add(String(lease))
  assert.deepEqual(
    ['0', '1', String(leftLeasesMax)].map((holder) => left.has(holder)),
    [false, true, true],
  )
})
