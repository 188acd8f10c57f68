import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { youngGenerationBytesMax } from '../kernel/limits/process.ts'
import { boundYoungGeneration } from './young-generation.ts'

test('the young generation stays small, however much is made that lives for a while', async () => {
  boundYoungGeneration()
  let most = 0
  for (let round = 0; round < 200; round++) {
    const alive = Array.from({ length: 10_000 }, (_, number) => ({ number, more: [number] }))
    await nextRound()
    const { space_size: size = 0 } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space') ?? {}
    most = Math.max(most, alive.length > 0 ? size : 0)
  }
  assert.ok(most <= 2 * youngGenerationBytesMax, `${most} bytes`)
})
