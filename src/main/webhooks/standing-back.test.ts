import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stillClock } from '../../../test/harness/service.ts'
import { createCarrier } from '../../features/operating/webhooks/carrying.ts'
import { webhookStandBackLookMs, webhookStandBackMaxMs } from '../../kernel/limits/webhooks.ts'
import { monotonicMs } from '../../kernel/monotonic.ts'
import { createStandingBack, type ProcessorTime, timeOfRequests } from './standing-back.ts'

/** Looks again and again at requests that have and wait for so much of each moment between. */
const beside = () => {
  let nowMs = 0
  let time: ProcessorTime = { hadMs: 0, waitedMs: 0 }
  const pauseMs = createStandingBack(
    () => time,
    () => nowMs,
  )
  const look = (hadShare: number, waitedShare: number): number => {
    nowMs += webhookStandBackLookMs
    const [hadMs, waitedMs] = [hadShare * webhookStandBackLookMs, waitedShare * webhookStandBackLookMs]
    time = { hadMs: time.hadMs + hadMs, waitedMs: time.waitedMs + waitedMs }
    return pauseMs()
  }
  return {
    look,
    looks: (times: number, had: number, waited: number) => Array.from({ length: times }, () => look(had, waited)),
  }
}

describe('deliveries beside requests', () => {
  it('pause where requests want all of a processor and wait for it, and longer while that lasts', () => {
    const { looks } = beside()
    assert.deepEqual(looks(6, 0.7, 0.25), [0, 1, 2, 4, webhookStandBackMaxMs, webhookStandBackMaxMs])
  })

  it('go on as they did once that is over', () => {
    const { look, looks } = beside()
    looks(6, 0.7, 0.25)
    assert.deepEqual(looks(5, 0.1, 0), [4, 2, 1, 0, 0])
    assert.equal(look(0.7, 0.25), 1)
  })

  it('do not pause where requests are few, or have a processor to themselves', () => {
    const { looks } = beside()
    assert.deepEqual(looks(3, 0.2, 0.3), [0, 0, 0])
    assert.deepEqual(looks(3, 0.98, 0.01), [0, 0, 0])
  })

  it('look now and then, and not before each', () => {
    let nowMs = 0
    let looked = 0
    const pauseMs = createStandingBack(
      () => ({ hadMs: 0, waitedMs: ++looked }),
      () => nowMs,
    )
    for (; nowMs < 10 * webhookStandBackLookMs; nowMs += 1) pauseMs()
    assert.equal(looked, 10)
  })

  it('do not pause where the system does not say how requests fare', () => {
    assert.equal(createStandingBack(() => null)(), 0)
  })

  it('know what the thread that answers requests had of the processor', () => {
    const before = timeOfRequests()
    for (const untilMs = performance.now() + 100; performance.now() < untilMs; );
    const after = timeOfRequests()
    assert.ok(before !== null && after !== null)
    const wantedMs = after.hadMs + after.waitedMs - before.hadMs - before.waitedMs
    assert.ok(wantedMs > 50 && wantedMs < 10_000, String(wantedMs))
  })

  it('wait as long as they are told before each, and begin none that is over by then', async () => {
    let posted = 0
    const post = async (): Promise<number> => {
      posted += 1
      return 204
    }
    const pauses = [1, 0, 200]
    const carrier = createCarrier({
      door: { line: () => ({ post, close() {} }) },
      clock: stillClock(),
      secretsOf: () => async () => [new Uint8Array(16)],
      standBackMs: () => pauses.shift() ?? 0,
    })
    const event = { action: 'artifact.publish', artifactId: '', detail: null } as const
    const load = {
      subscription: { id: 'one', repository: 'releases', url: 'https://example.org/', actions: null },
      secretFiles: { secretFile: '/secret', nextSecretFile: null },
      events: [1, 2, 3, 4].map((sequence) => ({ sequence, ...event })),
      untilMs: monotonicMs() + 150,
    }
    const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    assert.deepEqual(await carrier.carry(load, taken), { taken: 2, fault: null })
    assert.equal(posted, 2)
  })
})
