import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transferPaceMin, transferPaceMs } from '../../kernel/limits/downloads.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { createAdmission } from './admission.ts'
import type { Download, Slot } from './download.ts'
import { createDownloadMeter } from './meter.ts'
import { createTickets } from './tickets.ts'

/** Long enough for the slowest to be known as slow, whatever the buffers took at first. */
const knownMs = 2 * transferPaceMs
const piece = 768 * 1024

describe('slow clients', () => {
  const scene = (slots: number) => {
    const time = new VirtualTime()
    const meter = createDownloadMeter()
    const paces: number[] = []
    meter.tooSlow = (pace) => paces.push(pace)
    const tickets = createTickets('secret', time)
    const admission = createAdmission({ clock: time, timers: time, tickets, meter, slots, waitMs: 60_000 })
    const cut: string[] = []
    const served: string[] = []
    const asked = (caller: string, more: Partial<Download> = {}): Download => {
      const scope = new OwningScope(assert.ifError)
      const hangUp = (): void => {
        cut.push(caller)
        scope.end()
      }
      const bytes = 1e9
      const common = {
        downloadClass: 'interactive',
        last: true,
        content: 'x',
        id: undefined,
        ticket: undefined,
        sideBySide: false,
      } as const
      return { caller, bytes, ...common, scope, hangUp, ...more }
    }
    /** A client that takes so many bytes per millisecond, after a burst that the buffers took. */
    const client = (caller: string, bytesPerMs: number, more: Partial<Download> = {}): void => {
      const begin = (slot: Slot): void => {
        served.push(caller)
        slot.sent(4 * piece)
        const next = (): void => {
          slot.sent(piece)
          time.after(piece / bytesPerMs, next)
        }
        if (bytesPerMs > 0) time.after(piece / bytesPerMs, next)
      }
      const given = admission.enter(asked(caller, more))
      if (given instanceof Promise) given.then(begin, () => served.push(`nothing for ${caller}`))
      else begin(given)
    }
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 1000) {
        time.pass(1000)
        await new Promise(setImmediate)
      }
    }
    return { admission, meter, paces, cut, served, client, asked, pass }
  }

  it('lose their slots to those who wait, the slowest first, and no more of them than are waited for', async () => {
    const { admission, meter, paces, cut, served, client, pass } = scene(4)
    client('a', transferPaceMin * 2)
    client('b', transferPaceMin / 4)
    client('b', 0)
    client('c', transferPaceMin / 2)
    await pass(knownMs)
    assert.deepEqual(cut, [], 'nobody waits')
    client('d', transferPaceMin * 9)
    await pass(1000)
    assert.deepEqual(cut, ['b'])
    assert.deepEqual(served, ['a', 'b', 'b', 'c', 'd'])
    assert.deepEqual(paces, [0])
    client('e', transferPaceMin * 9)
    client('f', transferPaceMin * 9)
    client('g', transferPaceMin * 9)
    await pass(knownMs)
    assert.deepEqual(cut, ['b', 'b', 'c'], 'who takes enough is left alone')
    assert.equal(meter.cut, 3)
    assert.deepEqual(served.slice(5), ['e', 'f'])
    assert.equal(admission.state.waiting, 1)
  })

  it('are cut within the time that a request is held at the latest, also when they come again and again', async () => {
    const { served, client, pass } = scene(4)
    for (const caller of ['a', 'a', 'b', 'b', 'a', 'b', 'a', 'b']) client(caller, 0)
    client('patient', transferPaceMin * 9)
    await pass(knownMs + 1000)
    assert.ok(served.includes('patient'), served.join())
  })

  it('make no room for themselves', async () => {
    const { admission, cut, client, pass } = scene(1)
    client('a', 0)
    client('a', 0)
    await pass(knownMs + 1000)
    assert.deepEqual(cut, [])
    assert.equal(admission.state.waiting, 1)
  })

  it('lose the slot of a session with all its ranges', async () => {
    const { admission, cut, served, client, asked, pass } = scene(1)
    for (let range = 0; range < 3; range++) await admission.enter(asked('a', { id: 'session' }))
    client('b', transferPaceMin * 9)
    await pass(knownMs + 2000)
    assert.deepEqual([cut, served], [['a', 'a', 'a'], ['b']])
  })

  it('have one share, by whatever class they ask: one caller never has all slots', async () => {
    const { admission, served, client, pass } = scene(8)
    for (const downloadClass of ['interactive', 'release', 'bulk', 'background'] as const)
      for (let count = 0; count < 4; count++) client('a', transferPaceMin * 9, { downloadClass })
    await pass(1000)
    assert.equal(admission.state.held, 7)
    client('b', transferPaceMin * 9)
    assert.equal(served.at(-1), 'b')
  })
})
