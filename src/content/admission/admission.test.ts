import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Failure } from '../../kernel/failure.ts'
import {
  downloadAwaitedMs,
  downloadRangesMax,
  downloadRestMs,
  downloadSlotMs,
  queueRetrySecondsMax,
  smallDownloadBytes,
} from '../../kernel/limits/downloads.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { MiB } from '../../kernel/units.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { type Admission, createAdmission } from './admission.ts'
import type { Download, Slot } from './download.ts'
import { createDownloadMeter } from './meter.ts'
import { createTickets } from './tickets.ts'

const waitMs = 30_000

/** An admission on a clock that stands still. `again` is what a restart makes: it knows nothing but the secret. */
const scene = (slots: number, time = new VirtualTime()) => {
  // Far from zero, as real time is.
  const clock = { now: () => 1_800_000_000_000 + time.now() }
  const make = (secret = 'the same for all') => {
    const meter = createDownloadMeter()
    const deps = { clock, timers: time, tickets: createTickets(secret, clock), meter, slots, waitMs }
    return { admission: createAdmission(deps), meter }
  }
  return { time, make, ...make() }
}

const download = (more: Partial<Download> = {}): Download => ({
  caller: 'account:a',
  downloadClass: 'interactive',
  bytes: MiB,
  last: false,
  content: 'digest',
  id: undefined,
  ticket: undefined,
  sideBySide: false,
  scope: new OwningScope(assert.ifError),
  hangUp: () => {},
  ...more,
})

const session = (id: string, more: Partial<Download> = {}): Download => download({ id, ...more })

/** A turn that needs no waiting. */
const entered = (admission: Admission, asked: Download): Slot => {
  const slot = admission.enter(asked)
  assert.ok(!(slot instanceof Promise), 'has to wait')
  return slot
}

/** A request that is held; what became of it is seen once promises were settled. */
const held = (admission: Admission, asked: Download) => {
  const slot = admission.enter(asked)
  assert.ok(slot instanceof Promise, 'need not wait')
  const fate: { slot?: Slot; refused?: string } = {}
  void slot.then(
    (given) => {
      fate.slot = given
    },
    (error: unknown) => {
      fate.refused = error instanceof Failure ? error.code : String(error)
    },
  )
  return fate
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The 503 of a session that has to wait. */
const queued = (admission: Admission, asked: Download): { ticket: string; retrySeconds: number } => {
  try {
    void admission.enter(asked)
  } catch (error) {
    assert.ok(error instanceof Failure && error.code === 'download_queued', String(error))
    const ticket = error.headers['svc-queue-ticket'] ?? ''
    assert.match(ticket, /^[A-Za-z0-9_-]{1,80}$/)
    assert.equal(error.headers['svc-download-class'], asked.downloadClass)
    return { ticket, retrySeconds: error.retryAfterSeconds ?? 0 }
  }
  return assert.fail('need not wait')
}

describe('the admission of a request without an id', () => {
  it('passes at once while there is a slot, and waits for the next one otherwise', async () => {
    const { admission } = scene(2)
    const granted = [entered(admission, download()), entered(admission, download({ caller: 'account:b' }))]
    const third = held(admission, download({ caller: 'account:c' }))
    assert.deepEqual(admission.state, { slots: 2, held: 2, waiting: 1, sessions: 0 })
    await settled()
    assert.deepEqual(third, {})
    granted[0]?.end()
    granted[0]?.end()
    await settled()
    assert.ok(third.slot)
    assert.deepEqual(admission.state, { slots: 2, held: 2, waiting: 0, sessions: 0 })
    third.slot.end()
    granted[1]?.end()
    assert.equal(admission.state.held, 0)
  })

  it('is told to come back when its time is over, and leaves nothing behind', async () => {
    const { admission, time, meter } = scene(1)
    const slot = entered(admission, download())
    const waiting = held(admission, download())
    time.pass(waitMs - 1)
    await settled()
    assert.deepEqual(waiting, {})
    time.pass(1)
    await settled()
    assert.deepEqual(waiting, { refused: 'busy' })
    slot.end()
    assert.deepEqual(admission.state, { slots: 1, held: 0, waiting: 0, sessions: 0 })
    assert.equal(meter.refused, 1)
  })

  it('leaves the queue when its client goes away', async () => {
    const { admission, meter } = scene(1)
    const slot = entered(admission, download())
    const client = new OwningScope(assert.ifError)
    const waiting = held(admission, download({ scope: client }))
    client.end()
    client.end()
    assert.equal(admission.state.waiting, 0)
    slot.end()
    assert.equal(admission.state.held, 0)
    await settled()
    assert.equal(waiting.refused, 'busy')
    assert.equal(meter.refused, 1)
  })

  it('needs no slot for what leaves in one piece', () => {
    const { admission, meter } = scene(1)
    entered(admission, download())
    for (let count = 0; count < 100; count += 1) {
      const slot = entered(admission, download({ bytes: smallDownloadBytes, id: 'x'.repeat(16) }))
      slot.sent(smallDownloadBytes)
      slot.end()
    }
    assert.equal(admission.state.held, 1)
    assert.equal(meter.bytes.interactive, 100 * smallDownloadBytes)
  })

  it('never takes the last slots for one caller', () => {
    const { admission } = scene(16)
    for (let count = 0; count < 14; count += 1) entered(admission, download())
    held(admission, download())
    entered(admission, download({ caller: 'account:b' }))
    entered(admission, download({ caller: 'account:c' }))
    assert.equal(admission.state.held, 16)
  })

  it('is sent away when the service closes, and nobody is taken from then on', async () => {
    const { admission } = scene(1)
    const slot = entered(admission, download())
    const waiting = held(admission, download())
    admission.close()
    await settled()
    assert.equal(waiting.refused, 'draining')
    assert.throws(() => admission.enter(download()), { code: 'draining' })
    slot.end()
    assert.equal(admission.state.held, 0)
  })

  it('follows the number of slots when it changes', async () => {
    const { admission } = scene(1)
    const slot = entered(admission, download())
    const waiting = held(admission, download({ caller: 'account:b' }))
    admission.resize(2)
    await settled()
    assert.ok(waiting.slot)
    admission.resize(1)
    slot.end()
    held(admission, download({ caller: 'account:c' }))
    waiting.slot.end()
    assert.equal(admission.state.held, 1)
  })
})

describe('the admission of a session', () => {
  it('takes one slot however many of its ranges run at once, up to a limit', () => {
    const { admission } = scene(2)
    const ranges = Array.from({ length: 20 }, () => entered(admission, session('a')))
    assert.deepEqual(admission.state, { slots: 2, held: 1, waiting: 0, sessions: 1 })
    const more = Array.from({ length: downloadRangesMax - 20 }, () => entered(admission, session('a')))
    assert.throws(() => admission.enter(session('a')), { code: 'busy' })
    for (const slot of [...ranges, ...more]) slot.end()
    assert.equal(admission.state.held, 1)
  })

  it('is joined by a request that comes once while it has its turn; else that is held, as one without an id', async () => {
    const { admission, time } = scene(1)
    const first = entered(admission, session('first'))
    const joined = entered(admission, session('first', { comesOnce: true }))
    const late = held(admission, session('second', { comesOnce: true }))
    first.end()
    await settled()
    assert.deepEqual(late, {})
    joined.end()
    time.pass(downloadRestMs)
    await settled()
    assert.ok(late.slot)
  })

  it('is another one for another caller, id or content', () => {
    const { admission } = scene(8)
    entered(admission, session('a'))
    entered(admission, session('b'))
    entered(admission, session('a', { caller: 'account:b' }))
    entered(admission, session('a', { content: 'replaced' }))
    assert.deepEqual(admission.state, { slots: 8, held: 4, waiting: 0, sessions: 4 })
  })

  it('keeps its slot for a moment between two ranges, and gives it back when no other comes', () => {
    const { admission, time } = scene(1)
    entered(admission, session('a')).end()
    time.pass(downloadRestMs - 1)
    entered(admission, session('a')).end()
    assert.equal(admission.state.held, 1)
    time.pass(downloadRestMs)
    assert.deepEqual(admission.state, { slots: 1, held: 0, waiting: 0, sessions: 0 })
  })

  it('gives its slot to who waits as soon as its last byte is sent', async () => {
    const { admission } = scene(1)
    const slot = entered(admission, session('a', { last: true }))
    const waiting = held(admission, download({ caller: 'account:b' }))
    slot.end()
    await settled()
    assert.ok(waiting.slot)
  })

  it('is told at once to ask again, and finds its slot kept when its turn has come', () => {
    const { admission, time } = scene(1)
    const first = entered(admission, session('a', { last: true }))
    const { ticket, retrySeconds } = queued(admission, session('b'))
    assert.ok(retrySeconds >= 1 && retrySeconds <= queueRetrySecondsMax)
    assert.equal(admission.state.waiting, 1)
    queued(admission, session('b', { ticket }))
    assert.equal(admission.state.waiting, 1, 'asking again is no second wish')
    first.end()
    assert.deepEqual([admission.state.held, admission.state.waiting], [1, 0])
    // Others cannot take what is kept.
    queued(admission, session('c'))
    time.pass(retrySeconds * 1000)
    entered(admission, session('b', { ticket }))
  })

  it('loses its place, and a slot that was kept, when it does not ask again', () => {
    const { admission, time } = scene(1)
    const slot = entered(admission, session('a', { last: true }))
    const { retrySeconds } = queued(admission, session('b'))
    time.pass(retrySeconds * 1000 + downloadAwaitedMs)
    assert.deepEqual([admission.state.waiting, admission.state.sessions], [0, 1])
    const later = queued(admission, session('b'))
    slot.end()
    assert.equal(admission.state.held, 1)
    time.pass(later.retrySeconds * 1000 + downloadAwaitedMs)
    assert.deepEqual(admission.state, { slots: 1, held: 0, waiting: 0, sessions: 0 })
  })

  it('yields at a range boundary when it had its turn and others wait, and goes on after them', async () => {
    const { admission, time, meter } = scene(1)
    entered(admission, session('a')).end()
    const waiting = held(admission, download({ caller: 'account:b' }))
    // Not yet: its turn is not over.
    const next = entered(admission, session('a'))
    time.pass(downloadSlotMs)
    next.end()
    const { ticket } = queued(admission, session('a'))
    await settled()
    assert.ok(waiting.slot)
    assert.equal(meter.yielded, 1)
    waiting.slot.end()
    entered(admission, session('a', { ticket }))
  })

  it('lets ranges that are on their way end before it yields', async () => {
    const { admission, time } = scene(1)
    const running = entered(admission, session('a'))
    const waiting = held(admission, download({ caller: 'account:b' }))
    time.pass(downloadSlotMs)
    queued(admission, session('a'))
    await settled()
    assert.deepEqual(waiting, {})
    running.end()
    await settled()
    assert.ok(waiting.slot)
    assert.deepEqual([admission.state.held, admission.state.waiting], [1, 1])
  })

  it('need not yield when nobody waits', () => {
    const { admission, time } = scene(1)
    entered(admission, session('a')).end()
    time.pass(downloadRestMs - 1)
    const running = entered(admission, session('a'))
    time.pass(10 * downloadSlotMs)
    running.end()
    entered(admission, session('a'))
  })
})

describe('a queue ticket', () => {
  it('keeps the turn of a download when the service starts anew', () => {
    const { make, admission, time } = scene(1)
    entered(admission, session('running'))
    const early = queued(admission, session('early', { caller: 'account:early' }))
    time.pass(1_000)
    const { admission: anew } = make()
    const other = entered(anew, session('other', { caller: 'account:other', last: true }))
    queued(anew, session('late', { caller: 'account:late' }))
    time.pass(500)
    queued(anew, session('early', { caller: 'account:early', ticket: early.ticket }))
    other.end()
    queued(anew, session('late', { caller: 'account:late' }))
    entered(anew, session('early', { caller: 'account:early', ticket: early.ticket }))
  })
})

describe('the admission, whatever happens', () => {
  it('never gives out more slots than there are, forgets nobody and ends empty', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('once' as const), caller: fc.nat(3) }),
      fc.record({ kind: fc.constant('range' as const), caller: fc.nat(2), id: fc.nat(3), last: fc.boolean() }),
      fc.record({ kind: fc.constant('end' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('gone' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(10, 600, 2_000, 11_000, 40_000) }),
      fc.record({ kind: fc.constant('resize' as const), slots: fc.nat(4) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { admission, time } = scene(2)
        const classes = ['interactive', 'release', 'bulk', 'background'] as const
        const granted: Slot[] = []
        const leavers: OwningScope[] = []
        const leaver = (): OwningScope => {
          const scope = new OwningScope(assert.ifError)
          leavers.push(scope)
          return scope
        }
        let open = 0
        const enter = (asked: Download): void => {
          try {
            const slot = admission.enter(asked)
            if (!(slot instanceof Promise)) {
              granted.push(slot)
              return
            }
            open += 1
            void slot.then(
              (given) => {
                open -= 1
                granted.push(given)
              },
              () => {
                open -= 1
              },
            )
          } catch (error) {
            assert.ok(error instanceof Failure, String(error))
          }
        }
        for (const each of steps) {
          const before = admission.state.held
          if (each.kind === 'once')
            enter(
              download({
                caller: `c${each.caller}`,
                downloadClass: classes[each.caller] ?? 'bulk',
                scope: leaver(),
              }),
            )
          if (each.kind === 'range') enter(session(`s${each.id}`, { caller: `c${each.caller}`, last: each.last }))
          if (each.kind === 'end') granted.splice(each.which % (granted.length || 1), 1)[0]?.end()
          if (each.kind === 'gone') leavers.splice(each.which % (leavers.length || 1), 1)[0]?.end()
          if (each.kind === 'pass') time.pass(each.ms)
          if (each.kind === 'resize') admission.resize(each.slots)
          await settled()
          const { slots, held: taken } = admission.state
          assert.ok(taken <= Math.max(slots, before), `${taken} of ${slots} slots are taken`)
        }
        for (const slot of granted.splice(0)) slot.end()
        time.pass(waitMs)
        await settled()
        for (const slot of granted.splice(0)) slot.end()
        time.pass(waitMs)
        await settled()
        assert.equal(open, 0, 'a request that waited was never answered')
        assert.deepEqual({ ...admission.state, slots: 0 }, { slots: 0, held: 0, waiting: 0, sessions: 0 })
      }),
      { numRuns: 500 },
    )
  })
})
