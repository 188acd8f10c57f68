import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../kernel/failure.ts'
import { downloadRangesMax, downloadSlotMs, smallDownloadBytes } from '../../kernel/limits/downloads.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { MiB } from '../../kernel/units.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { createAdmission } from './admission.ts'
import type { Download, Slot } from './download.ts'
import { createDownloadMeter } from './meter.ts'
import { createTickets } from './tickets.ts'

describe('ranges that are fetched side by side without an id', () => {
  /** Nobody waits for so long that whoever has a slot is found slow, unless it is said otherwise. */
  const scene = (slots: number, waitMs = 5_000) => {
    const time = new VirtualTime()
    const meter = createDownloadMeter()
    const admission = createAdmission({
      ...{ clock: time, timers: time, tickets: createTickets('secret', time), meter, slots, waitMs },
    })
    /** A request, and what becomes of it. */
    const ask = async (more: Partial<Download> = {}) => {
      const scope = new OwningScope(assert.ifError)
      const fate: { slot?: Slot; refused?: string; hungUp: boolean; end: () => void } = {
        hungUp: false,
        end: () => scope.end(),
      }
      const download: Download = {
        ...{ caller: 'account:a', downloadClass: 'interactive', bytes: MiB, last: false, content: 'layer' },
        ...{ id: undefined, ticket: undefined, sideBySide: true, scope },
        hangUp: () => {
          fate.hungUp = true
          scope.end()
        },
        ...more,
      }
      void Promise.resolve()
        .then(() => admission.enter(download))
        .then(
          (slot) => {
            fate.slot = slot
          },
          (error: unknown) => {
            fate.refused = error instanceof Failure ? error.code : String(error)
          },
        )
      await settled()
      return fate
    }
    return { time, admission, meter, ask }
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  type Fate = Awaited<ReturnType<ReturnType<typeof scene>['ask']>>
  const has = (...fates: Fate[]): boolean[] => fates.map(({ slot }) => slot !== undefined)

  it('take one turn, which is over with the last of them', async () => {
    const { admission, ask } = scene(1)
    const [one, two] = [await ask(), await ask()]
    const other = await ask({ caller: 'account:b' })
    assert.deepEqual(has(one, two, other), [true, true, false])
    assert.deepEqual([admission.state.held, admission.state.waiting], [1, 1])
    one.end()
    const three = await ask()
    two.end()
    await settled()
    assert.deepEqual(has(three, other), [true, false])
    three.slot?.end()
    three.end()
    await settled()
    assert.deepEqual(has(other), [true])
    other.end()
    assert.deepEqual([admission.state.held, admission.state.waiting], [0, 0])
  })

  it('wait together, and whoever is gone waits no longer', async () => {
    const { admission, ask } = scene(1)
    const before = await ask({ caller: 'account:b', sideBySide: false })
    const [one, two, three] = [await ask(), await ask(), await ask()]
    assert.equal(admission.state.waiting, 1)
    one.end()
    await settled()
    assert.equal(one.refused, 'busy')
    assert.equal(admission.state.waiting, 1)
    before.end()
    await settled()
    assert.deepEqual(has(one, two, three), [false, true, true])
    assert.equal(admission.state.held, 1)
    for (const each of [two, three]) each.end()
    assert.equal(admission.state.held, 0)

    const again = await ask({ caller: 'account:b', sideBySide: false })
    for (const each of [await ask(), await ask()]) each.end()
    assert.equal(admission.state.waiting, 0)
    again.end()
    assert.equal(admission.state.held, 0)
  })

  it('are told together that it takes too long, and may come again', async () => {
    const { time, admission, ask } = scene(1)
    const before = await ask({ caller: 'account:b', sideBySide: false })
    const [one, two] = [await ask(), await ask()]
    time.pass(5_000)
    await settled()
    assert.deepEqual([one.refused, two.refused, admission.state.waiting], ['busy', 'busy', 0])
    before.end()
    assert.deepEqual(has(await ask()), [true])
  })

  it('are others where caller, class or content is another, or the request is for all of it', async () => {
    const { admission, ask } = scene(8)
    await ask()
    await ask({ caller: 'account:b' })
    await ask({ downloadClass: 'bulk' })
    await ask({ content: 'another layer' })
    await ask({ sideBySide: false })
    assert.equal(admission.state.held, 5)
    await ask({ bytes: smallDownloadBytes, content: 'small' })
    assert.equal(admission.state.held, 5)
  })

  it('that had their time take nobody more while others wait', async () => {
    const { time, admission, ask } = scene(1)
    const one = await ask()
    time.pass(downloadSlotMs)
    one.slot?.sent(100 * MiB)
    const two = await ask()
    assert.deepEqual(has(two), [true])
    const other = await ask({ caller: 'account:b' })
    const three = await ask()
    assert.deepEqual([...has(other, three), admission.state.waiting], [false, false, 2])
    one.end()
    two.end()
    await settled()
    assert.deepEqual(has(other, three), [true, false])
    other.end()
    await settled()
    assert.deepEqual(has(three), [true])
    // What began anew is what the next one joins.
    assert.deepEqual(has(await ask()), [true])
    assert.equal(admission.state.held, 1)
  })

  it('are so many at once in one turn', async () => {
    const { admission, ask } = scene(8)
    for (let count = 0; count < downloadRangesMax; count += 1) await ask()
    assert.equal(admission.state.held, 1)
    await ask()
    assert.equal(admission.state.held, 2)
  })

  it('are cut off together where they take too little while others wait', async () => {
    const { time, ask } = scene(1, 60_000)
    const [one, two] = [await ask(), await ask()]
    const other = await ask({ caller: 'account:b' })
    time.pass(29_000)
    await settled()
    assert.deepEqual([one.hungUp, two.hungUp, ...has(other)], [true, true, true])
  })

  it('are counted by what each sends', async () => {
    const { meter, ask } = scene(1)
    const [one, two] = [await ask(), await ask()]
    one.slot?.sent(1_000)
    two.slot?.sent(500)
    one.end()
    two.end()
    assert.equal(meter.bytes.interactive, 1_500)
  })
})
