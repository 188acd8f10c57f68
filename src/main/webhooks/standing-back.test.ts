import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { stillClock } from '../../../test/harness/service.ts'
import { createCarrier } from '../../features/operating/webhooks/carrying.ts'
import { webhookStandBackLookMs, webhookStandBackMaxMs } from '../../kernel/limits/webhooks.ts'
import { monotonicMs } from '../../kernel/monotonic.ts'
import { createStandingBack, type MachineTime, timeOfMachine } from './standing-back.ts'

/** Looks again and again at a machine that had so much to spare between any two looks. */
const onMachine = () => {
  let nowMs = 0
  let time: MachineTime = { all: 1_000, spare: 500 }
  const pauseMs = createStandingBack(
    () => time,
    () => nowMs,
  )
  const look = (spareShare: number): number => {
    nowMs += webhookStandBackLookMs
    time = { all: time.all + 100, spare: time.spare + 100 * spareShare }
    return pauseMs()
  }
  return { look, looks: (times: number, spareShare: number) => Array.from({ length: times }, () => look(spareShare)) }
}

describe('deliveries beside others who want the machine', () => {
  it('pause where it has no processor to spare, and longer while that lasts', () => {
    const { looks } = onMachine()
    assert.deepEqual(looks(6, 0.02), [0, 1, 2, 4, webhookStandBackMaxMs, webhookStandBackMaxMs])
  })

  it('go on as they did once that is over, step by step', () => {
    const { look, looks } = onMachine()
    looks(4, 0)
    assert.deepEqual(looks(5, 0.2), [3, 2, 1, 0, 0])
    assert.equal(look(0.05), 1)
  })

  it('do not pause where there is a processor for them', () => {
    const { looks } = onMachine()
    assert.deepEqual(looks(3, 0.3), [0, 0, 0])
    assert.deepEqual(looks(3, 1), [0, 0, 0])
  })

  it('look now and then, and not before each', () => {
    let nowMs = 0
    let looked = 0
    const pauseMs = createStandingBack(
      () => ({ all: ++looked, spare: 0 }),
      () => nowMs,
    )
    for (; nowMs < 10 * webhookStandBackLookMs; nowMs += 1) pauseMs()
    assert.equal(looked, 10)
  })

  it('do not pause where the system does not say how it fares', async (t) => {
    assert.equal(createStandingBack(() => null)(), 0)
    const folder = await mkdtemp(join(tmpdir(), 'svc-stat-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const told = async (text: string): Promise<MachineTime | null> => {
      await writeFile(join(folder, 'stat'), text)
      return timeOfMachine(join(folder, 'stat'))
    }
    assert.deepEqual(await told('cpu  40 3 20 100 9 1 2 5 7 8\ncpu0 1 1 1 1 1 1 1 1 1 1\n'), { all: 180, spare: 109 })
    for (const text of ['', 'cpu', 'cpu  0 0 0 0 0 0 0 0 0 0\n']) assert.equal(await told(text), null, text)
    assert.equal(timeOfMachine(join(folder, 'none')), null)
  })

  it('see a machine that works', () => {
    const before = timeOfMachine()
    for (const untilMs = performance.now() + 100; performance.now() < untilMs; );
    const after = timeOfMachine()
    assert.ok(before !== null && after !== null)
    const [all, spare] = [after.all - before.all, after.spare - before.spare]
    assert.ok(all > 0 && spare < all, `${spare} of ${all}`)
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
