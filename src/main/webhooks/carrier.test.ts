import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import { stillClock } from '../../../test/harness/service.ts'
import type { Load } from '../../features/operating/webhooks/carrying.ts'
import { webhookLeaseSpareMs, webhookNiceness } from '../../kernel/limits/webhooks.ts'
import { monotonicMs } from '../../kernel/monotonic.ts'
import { minute } from '../../kernel/units.ts'
import { createThreadCarrier } from './carrier.ts'

const run = promisify(execFile)

const door = {
  allowed: [],
  authorities: [],
  proxies: { https: null, http: null, except: [] },
  userAgent: 'svc/test',
  plainHttp: false,
}

/** A carrier whose threads run this when they are told something, or what they always do, and those that it began. */
const carrierOf = (t: TestContext, whenTold: string | null) => {
  const threads: Worker[] = []
  const begun = (thread: Worker): void => void threads.push(thread)
  process.on('worker', begun)
  t.after(() => process.off('worker', begun))
  const text = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${whenTold} })`
  const reported: string[] = []
  const carrier = createThreadCarrier({
    door,
    clock: stillClock(),
    report: (message, error) => reported.push(`${message}: ${error}`),
    ...(whenTold === null ? {} : { program: new URL(`data:text/javascript,${encodeURIComponent(text)}`), lateMs: 50 }),
  })
  t.after(() => carrier.close())
  return { carrier, threads, reported }
}

const taken = (): Int32Array => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/** A load that is to be answered this much later. */
const load = (id: string, inMs: number): Load => ({
  subscription: { id, repository: 'releases', url: 'https://example.org/', actions: null },
  secretFiles: { secretFile: '/secret', nextSecretFile: null },
  events: [{ sequence: 1, action: 'artifact.publish', artifactId: '', detail: null }],
  untilMs: monotonicMs() - webhookLeaseSpareMs + inMs,
})

describe('a thread that delivers webhooks', () => {
  it('leaves the processor to requests', async (t) => {
    // What a thread begins is as patient as itself: that of the service finds the pool of threads begun.
    await readdir('/')
    const { carrier } = carrierOf(t, null)
    const { fault } = await carrier.carry(load('one', minute), taken())
    assert.equal(fault?.code, 'secret')
    const nice = readdirSync('/proc/self/task').map((id) => getPriority(Number(id)))
    assert.equal(nice.filter((each) => each === getPriority() + webhookNiceness).length, 1)
  })

  it('is ended when it hangs, with all that it has under way, and the next load begins another', async (t) => {
    const { carrier, threads, reported } = carrierOf(t, 'for (;;);')
    for (const nth of [1, 2]) {
      const loads = [carrier.carry(load('late', 0), taken()), carrier.carry(load('early', minute), taken())]
      for (const each of loads) await assert.rejects(each, /the thread that delivers webhooks does not answer/)
      assert.equal(threads.length, nth)
      assert.equal(reported.length, 1, 'not each time')
    }
  })

  it('is ended when its heap grows, and the next load begins another', async (t) => {
    const grow = 'const all = []; for (;;) all.push(new Array(1000).fill(Math.random()))'
    const { carrier, threads, reported } = carrierOf(t, grow)
    for (const nth of [1, 2]) {
      await assert.rejects(carrier.carry(load('one', minute), taken()), /memory/)
      assert.equal(threads.length, nth)
    }
    assert.match(reported.join(), /the thread that delivers webhooks has failed/)
  })

  it('is given the time that a load has, and no more of it once the subscription is left', async (t) => {
    const { carrier, threads } = carrierOf(t, '')
    const work = carrier.carry(load('left', minute), taken())
    const other = carrier.carry(load('other', minute), taken())
    const early = await Promise.race([work, other, new Promise((resolve) => setTimeout(resolve, 200, 'nobody'))])
    assert.equal(early, 'nobody')
    carrier.leave('left')
    await assert.rejects(work, /does not answer/)
    await assert.rejects(other, /does not answer/)
    assert.equal(threads.length, 1)
  })

  it('keeps no process that ends, although it waits for a file system that does not answer', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-carrier-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const pipe = join(folder, 'pipe')
    await run('mkfifo', [pipe])
    // Who opens a pipe waits until somebody writes, as who reads from a disk that is away.
    const thread = `import { readFile } from 'node:fs/promises'; import { parentPort } from 'node:worker_threads';
      parentPort.on('message', () => { readFile(${JSON.stringify(pipe)}); parentPort.postMessage({ number: 1, carried: null, why: '' }) })`
    const program = `import { createThreadCarrier } from ${JSON.stringify(new URL('carrier.ts', import.meta.url))};
      const program = new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(thread)}`)});
      const report = (message) => console.log(message);
      const carrier = createThreadCarrier({ door: {}, clock: Date, report, program, endMs: 100 });
      const load = { subscription: { id: 'one' }, events: [], untilMs: Number.MAX_SAFE_INTEGER };
      await carrier.carry(load, new Int32Array(1)).catch(() => undefined);
      await carrier.close();
      console.log('closed');
      process.exit()`
    const ended = run(process.execPath, ['--input-type=module', '-e', program], { timeout: minute })
    await assert.rejects(ended, {
      signal: 'SIGKILL',
      stdout: 'the thread that delivers webhooks is left behind\nclosed\n',
    })
  })
})
