/**
 * `svc up` as it is, but for a stage on which it can die: a message names a fault point, and reaching it is the end, as
 * sudden as a power cut is for a process. Its clock may be ahead (SVC_TEST_CLOCK_AHEAD_MS), so that what a dead process
 * held has lapsed when the next one starts.
 */
import { serve } from '../../src/main/commands/serve.ts'

const aheadMs = Number(process.env['SVC_TEST_CLOCK_AHEAD_MS'] ?? 0)
const clock = { now: () => Date.now() + aheadMs }
let dieAt: unknown = process.env['SVC_TEST_DIE_AT']

process.on('message', (point) => {
  dieAt = point
  process.send?.('armed')
})
// Whoever started it is gone: it must not stay.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

await serve(
  { gateway: 'api', worker: true },
  {
    clock,
    reach: (point) => {
      if (point === dieAt) process.kill(process.pid, 'SIGKILL')
    },
  },
)
