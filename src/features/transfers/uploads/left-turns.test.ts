import assert from 'node:assert/strict'
import { it } from 'node:test'
import { leftTurnsMax } from '../../../kernel/limits/transfers.ts'
import { createLeftTurns } from './left-turns.ts'

it('turns that were left are remembered up to a limit, the newest ones', () => {
  const left = createLeftTurns()
  assert.equal(left.has('0'), false)
  for (let turn = 0; turn <= leftTurnsMax; turn++) left.add(String(turn))
  assert.deepEqual(
    ['0', '1', String(leftTurnsMax)].map((holder) => left.has(holder)),
    [false, true, true],
  )
})
