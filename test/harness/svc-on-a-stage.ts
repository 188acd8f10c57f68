/**
 * `svc` as it is, but for its clock, which a message turns forward. What it is to be stands in SVC_TEST_ROLES. It ends
 * with whoever started it.
 */

import { noFaults } from '../../src/kernel/fault-points.ts'
import { serve } from '../../src/main/commands/serve.ts'
import type { Roles } from '../../src/main/run.ts'

let aheadMs = Number(process.env['SVC_TEST_CLOCK_AHEAD_MS'] ?? 0)

process.on('message', (milliseconds) => {
  aheadMs += Number(milliseconds)
  process.send?.('turned')
})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

const roles: Roles = JSON.parse(process.env['SVC_TEST_ROLES'] ?? '')
await serve(roles, { clock: { now: () => Date.now() + aheadMs }, reach: noFaults })
