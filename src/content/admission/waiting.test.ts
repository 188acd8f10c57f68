import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DownloadClass, downloadClasses } from '../../kernel/download-class.ts'
import { Failure } from '../../kernel/failure.ts'
import { downloadsWaitingMax, downloadsWaitingPerCallerMax } from '../../kernel/limits/downloads.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { createAdmission } from './admission.ts'
import { createDownloadMeter } from './meter.ts'
import { createTickets } from './tickets.ts'

describe('the line of downloads', () => {
  /** One slot, which is taken. */
  const scene = async () => {
    const time = new VirtualTime()
    const tickets = createTickets('secret', time)
    const deps = { clock: time, timers: time, tickets, meter: createDownloadMeter(), slots: 1, waitMs: 60_000 }
    const admission = createAdmission(deps)
    const refused: string[] = []
    const ask = (caller: string, more: { downloadClass?: DownloadClass; id?: string } = {}): void => {
      const download = {
        caller,
        downloadClass: 'interactive' as const,
        bytes: 1e9,
        last: true,
        content: 'digest',
        id: undefined,
        ticket: undefined,
        sideBySide: false,
        scope: new OwningScope(assert.ifError),
        hangUp: () => {},
        ...more,
      }
      const failed = (error: unknown): void => {
        assert.ok(error instanceof Failure)
        // To a session that has to wait this is said as well.
        if (error.code !== 'download_queued') refused.push(`${caller} ${error.code}`)
      }
      try {
        Promise.resolve(admission.enter(download)).catch(failed)
      } catch (error) {
        failed(error)
      }
    }
    const slot = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    ask('first')
    return { admission, refused, ask, slot: slot }
  }

  it('takes so many of one caller, whatever their classes, and others still', async () => {
    const { admission, refused, ask, slot } = await scene()
    for (let count = 0; count < downloadsWaitingPerCallerMax; count += 1)
      ask('greedy', { downloadClass: downloadClasses[count % downloadClasses.length] ?? 'bulk' })
    for (const downloadClass of downloadClasses) ask('greedy', { downloadClass })
    ask('other')
    await slot()
    assert.deepEqual(refused, new Array(downloadClasses.length).fill('greedy busy'))
    assert.equal(admission.state.waiting, downloadsWaitingPerCallerMax + 1)
  })

  for (const kind of ['requests', 'sessions'])
    it(`that is full has a place for whoever waits less often than others: ${kind}`, async () => {
      const { admission, refused, ask, slot } = await scene()
      const idOf = (count: number) => (kind === 'sessions' ? { id: `a-long-session-id-${count}` } : {})
      for (let count = 0; count < downloadsWaitingMax; count += 1)
        ask(count < downloadsWaitingPerCallerMax ? 'most' : `some ${count % 99}`, idOf(count))
      ask('new')
      ask('most')
      await slot()
      // A session hears it when it asks again.
      assert.deepEqual(refused, kind === 'sessions' ? ['most busy'] : ['most busy', 'most busy'])
      assert.equal(admission.state.waiting, downloadsWaitingMax)
    })
})
