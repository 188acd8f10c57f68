import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { downloadRestMs } from '../../kernel/limits/downloads.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { createAdmission } from './admission.ts'
import { createDownloadMeter } from './meter.ts'
import { createTickets } from './tickets.ts'

describe('a client that is gone', () => {
  for (const id of [undefined, 'a-session'])
    it(`keeps no slot, whenever its turn comes, ${id === undefined ? 'without an id' : 'with one'}`, async () => {
      const time = new VirtualTime()
      const tickets = createTickets('secret', time)
      const deps = { clock: time, timers: time, tickets, meter: createDownloadMeter(), slots: 1, waitMs: 1000 }
      const admission = createAdmission(deps)
      const scope = new OwningScope(assert.ifError)
      const asked = {
        caller: 'a',
        downloadClass: 'bulk',
        bytes: 1e6,
        last: true,
        content: 'x',
        id,
        ticket: undefined,
        sideBySide: false,
        hangUp: () => {},
      } as const
      await admission.enter({ ...asked, scope })
      assert.equal(admission.state.held, 1)
      scope.end()
      // A session may ask again in a moment.
      time.pass(downloadRestMs)
      assert.deepEqual(admission.state, { slots: 1, held: 0, waiting: 0, sessions: 0 })
      await admission.enter({ ...asked, scope })
      time.pass(downloadRestMs)
      assert.deepEqual(admission.state, { slots: 1, held: 0, waiting: 0, sessions: 0 })
    })
})
