import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it, type TestContext } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { appendJournal } from '../../src/journal/repository/journal.ts'
import { day, hour, minute, second } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine, type TestEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { publishedLine } from '../harness/journal-line.ts'
import { createRepository } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { firstTimes, type Receiver, startReceiver } from '../harness/webhook-receiver.ts'

after(closeConnections)

const base = '/api/v1/repositories/releases'

/** A service with a file of webhooks, and receivers. */
class Hooks {
  readonly folder: string
  service: TestService | null = null
  constructor(folder: string) {
    this.folder = folder
  }
  static async open(t: TestContext): Promise<Hooks> {
    const hooks = new Hooks(await mkdtemp(join(tmpdir(), 'svc-hooks-')))
    t.after(async () => {
      await hooks.service?.stop()
      await rm(hooks.folder, { recursive: true, force: true })
    })
    return hooks
  }
  get file(): string {
    return join(this.folder, 'webhooks.json')
  }
  path(name: string): string {
    return join(this.folder, name)
  }
  secret(name: string, text: string): Promise<void> {
    return writeFile(this.path(name), `${text}\n`)
  }
  /** Whole, as a careful hand does it. */
  async write(text: string): Promise<void> {
    await writeFile(this.path('new'), text, { mode: 0o600 })
    await rename(this.path('new'), this.file)
  }
  says(...items: readonly object[]): Promise<void> {
    return this.write(JSON.stringify({ webhooks: items }))
  }
  item(id: string, receiver: Receiver, more: object = {}): object {
    return { id, repository: 'releases', url: receiver.url, secretFile: this.path('secret'), ...more }
  }
  async start(engine: TestEngine, settings: Record<string, string> = {}): Promise<TestService> {
    this.service = await startService(engine, {
      settings: { SVC_WEBHOOKS_FILE: this.file, SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.0/8', ...settings },
    })
    return this.service
  }
  get running(): TestService {
    assert.ok(this.service !== null)
    return this.service
  }
  async put(name: string, body = name): Promise<void> {
    const { running } = this
    await expectAnswer(
      running,
      { method: 'PUT', path: `${base}/raw/${name}`, credential: running.recoveryKey, body },
      201,
    )
  }
  async standing(id: string) {
    const { running } = this
    const told = await expectAnswer(running, { path: '/api/v1/webhooks', credential: running.recoveryKey }, 200)
    return told.json.items.find((item: { id: string }) => item.id === id)
  }
  logged(event: string): Record<string, unknown>[] {
    return this.running.log.map((line) => JSON.parse(line)).filter((line) => line.event === event)
  }
  async feed() {
    const { running } = this
    return (await expectAnswer(running, { path: `${base}/changes`, credential: running.recoveryKey }, 200)).json
  }
}

const secret = 'a secret of sixteen bytes or more'

forEachEngine((engine) => {
  const receiving = async (t: TestContext): Promise<Receiver> => {
    const receiver = await startReceiver(secret)
    t.after(() => receiver[Symbol.asyncDispose]())
    return receiver
  }
  const started = async (t: TestContext, ...receivers: Receiver[]): Promise<Hooks> => {
    const hooks = await Hooks.open(t)
    await hooks.secret('secret', secret)
    await hooks.says(...receivers.map((receiver, n) => hooks.item(`hook-${n}`, receiver)))
    await hooks.start(engine)
    await until('all are delivered', () => hooks.logged('webhook.started').length === receivers.length)
    return hooks
  }

  it('every event after the beginning of a subscription is sent, in order, as the feed tells it', async (t) => {
    const [receiver, picky] = [await receiving(t), await receiving(t)]
    const hooks = await Hooks.open(t)
    await hooks.secret('secret', secret)
    await hooks.says()
    await hooks.start(engine)
    await hooks.put('before')
    const { head } = await hooks.feed()
    await hooks.says(hooks.item('all', receiver), hooks.item('some', picky, { actions: ['asset.replace'] }))
    await until('they are read', () => hooks.logged('webhook.started').length === 2)
    for (let n = 0; n < 20; n++) await hooks.put(`file-${n}`)
    const { items, head: last } = await hooks.feed()
    const later = items.filter(({ sequence }: { sequence: string }) => Number(sequence) > Number(head))
    const some = later.filter(({ action }: { action: string }) => action === 'asset.replace')
    await until('all came', () => receiver.taken.length === later.length && picky.taken.length === some.length)
    assert.deepEqual([...receiver.faults, ...picky.faults], [])
    assert.deepEqual(
      firstTimes(receiver.taken),
      later.map(({ sequence }: { sequence: string }) => Number(sequence)),
    )
    assert.deepEqual(receiver.taken, later)
    assert.deepEqual(picky.taken, some)
    const { createdAt, lastSuccessAt, ...standing } = await until('it is noted', async () => {
      const now = await hooks.standing('some')
      return now.position === last && now
    })
    assert.ok(createdAt <= lastSuccessAt)
    assert.deepEqual(standing, {
      id: 'some',
      repository: 'releases',
      host: new URL(picky.url).host,
      actions: ['asset.replace'],
      state: 'delivering',
      position: last,
      head: last,
      failingSince: null,
      failures: 0,
      errorCode: null,
      nextTryAt: null,
      lostEvents: 0,
    })
  })

  it('what is not taken is sent again after a pause, before all else, and that is told', async (t) => {
    const receiver = await receiving(t)
    const hooks = await started(t, receiver)
    const answers: readonly [string, (response: ServerResponse) => void][] = [
      ['http_5xx', (response) => void response.writeHead(503).end()],
      ['http_4xx', (response) => void response.writeHead(404).end()],
      ['redirect', (response) => void response.writeHead(302, { location: receiver.url }).end()],
      ['network', (response) => void response.destroy()],
    ]
    let failures = 0
    for (const [code, answer] of answers) {
      receiver.answer = answer
      if (failures === 0) await hooks.put('a')
      else hooks.running.clock.advance(12 * second * 2 ** (failures - 1))
      failures += 1
      const standing = await until(`it fails with ${code}`, async () => {
        const now = await hooks.standing('hook-0')
        return now.failures === failures && now
      })
      assert.equal(standing.errorCode, code)
      assert.equal(standing.state, 'failing')
      const told = hooks.logged('webhook.step_failed').at(-1)
      assert.equal(told?.['errorCode'], code)
      const pauseMs = Date.parse(standing.nextTryAt) - hooks.running.clock.now()
      const wholeMs = 12 * second * 2 ** (failures - 1)
      assert.ok(pauseMs <= wholeMs && pauseMs > wholeMs - 10 * second, `${pauseMs} of ${wholeMs}`)
    }
    await hooks.put('b')
    const asked = receiver.asked
    receiver.answer = null
    const metrics = async () =>
      (await expectAnswer(hooks.running, { path: '/health/metrics', credential: hooks.running.recoveryKey }, 200)).text
    assert.match(await metrics(), /^svc_webhook_failing\{webhook="hook-0",code="network"\} 1$/m)
    assert.equal(receiver.asked, asked, 'nothing is sent before its time')
    hooks.running.clock.advance(2 * minute)
    const { items } = await hooks.feed()
    await until('all came', () => receiver.taken.length >= items.length)
    assert.deepEqual(
      firstTimes(receiver.taken),
      items.map(({ sequence }: { sequence: string }) => Number(sequence)),
    )
    await until('it has recovered', () => hooks.logged('webhook.recovered').length === 1)
    assert.equal((await hooks.standing('hook-0')).failingSince, null)
    assert.match(await metrics(), /^svc_webhook_failing\{webhook="hook-0",code=""\} 0$/m)
    assert.match(await metrics(), /^svc_webhook_last_success_timestamp_seconds\{webhook="hook-0"\} \d{10}/m)
  })

  it('a receiver that hangs, and one that answers without end, cost the others nothing', async (t) => {
    const [hanging, endless, swift] = [await receiving(t), await receiving(t), await receiving(t)]
    hanging.answer = () => undefined
    endless.answer = (response) => {
      response.writeHead(200)
      const more = setInterval(() => response.write('x'), 1)
      response.on('close', () => clearInterval(more))
    }
    const hooks = await started(t, hanging, endless, swift)
    for (let n = 0; n < 5; n++) await hooks.put(`file-${n}`)
    const { items } = await hooks.feed()
    await until('the swift one has all', () => swift.taken.length === items.length)
    // The head of an answer is the answer; its body is left where it is.
    await until('the endless one was sent all', () => endless.asked === items.length)
    assert.equal((await hooks.standing('hook-0')).position, '0', 'nothing is sent past the event that hangs')
    await until('the hanging one failed', async () => (await hooks.standing('hook-0')).errorCode === 'timeout')
    assert.equal((await hooks.standing('hook-1')).errorCode, null)
  })

  it('another thread goes on where one that delivers has died, and no event is lost, passed over or out of order', async (t) => {
    const threads: Worker[] = []
    const begun = (thread: Worker): void => {
      if (thread.threadName === 'svc webhooks') threads.push(thread)
    }
    process.on('worker', begun)
    t.after(() => process.off('worker', begun))
    const receivers = [await receiving(t), await receiving(t)]
    const hooks = await started(t, ...receivers)
    for (let deaths = 0; deaths < 2; deaths += 1) {
      const ended = Promise.withResolvers<number | undefined>()
      const asked = new Set<Receiver>()
      for (const receiver of receivers)
        receiver.answer = () => {
          asked.add(receiver)
          if (asked.size === receivers.length) ended.resolve(threads.at(-1)?.terminate())
        }
      await hooks.put(`before-${deaths}`)
      await until('both are being sent something', () => asked.size === receivers.length)
      assert.equal(await ended.promise, 1)
      assert.equal(threads.length, deaths + 1)
      for (const receiver of receivers) receiver.answer = null
      await hooks.put(`after-${deaths}`)
      const { head } = await hooks.feed()
      const all = Array.from({ length: Number(head) }, (_, n) => n + 1)
      await until('all came', () => receivers.every(({ taken }) => firstTimes(taken).length === all.length))
      for (const { taken, faults } of receivers) assert.deepEqual([firstTimes(taken), faults], [all, []])
      const told = hooks.logged('webhook.step_failed').map(({ webhook, errorCode, why }) => [webhook, errorCode, why])
      const why = 'Error: the thread that delivers webhooks has ended (1)'
      for (const id of ['hook-0', 'hook-1'])
        assert.equal(told.filter((each) => each.join() === [id, 'internal', why].join()).length, 1, 'not each time')
    }
    assert.equal(threads.length, 3)
    assert.deepEqual([hooks.logged('webhook.started').length, hooks.logged('webhook.stopped').length], [2, 2])
  })

  it('a restart goes on where it stood', async (t) => {
    const receiver = await receiving(t)
    const hooks = await started(t, receiver)
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 5; n++) await hooks.put(`file-${round}-${n}`)
      await hooks.running.restart()
    }
    const { items } = await hooks.feed()
    await until('all came', () => firstTimes(receiver.taken).length === items.length)
    assert.deepEqual(
      firstTimes(receiver.taken),
      items.map(({ sequence }: { sequence: string }) => Number(sequence)),
    )
    assert.deepEqual(receiver.faults, [])
  })

  it('secrets are replaced without an event that the receiver cannot check', async (t) => {
    const receiver = await receiving(t)
    const hooks = await started(t, receiver)
    const next = 'the next secret, as long as the other'
    await hooks.put('with-the-first')
    await until('it came', () => receiver.taken.length > 0)
    await hooks.secret('next', next)
    const reads = (): number => hooks.logged('webhooks.read').length
    await hooks.says(hooks.item('hook-0', receiver, { nextSecretFile: hooks.path('next') }))
    await until('both sign', () => reads() === 1)
    await hooks.put('with-both')
    receiver.secret = next
    await hooks.put('with-both-again')
    await hooks.says(hooks.item('hook-0', receiver, { secretFile: hooks.path('next') }))
    await until('the next one signs', () => reads() === 2)
    await hooks.running.restart()
    await hooks.put('with-the-next')
    const { items } = await hooks.feed()
    await until('all came', () => firstTimes(receiver.taken).length === items.length)
    assert.deepEqual(receiver.faults, [])
    await hooks.says(hooks.item('hook-0', receiver, { secretFile: hooks.path('nowhere') }))
    await until('none signs', () => reads() === 3 || hooks.logged('webhooks.read').length === 3)
    await hooks.put('with-none')
    await until('it is said why', async () => (await hooks.standing('hook-0')).errorCode === 'secret')
  })

  it('a wrong file ends the start, and later leaves what stood there before', async (t) => {
    const receiver = await receiving(t)
    const hooks = await started(t, receiver)
    await hooks.write('{"webhooks": [{"id": "hook-0"}]}')
    await until('it is refused', () => hooks.logged('webhooks.refused').length === 1)
    assert.match(JSON.stringify(hooks.logged('webhooks.refused')), /item 1 \(hook-0\), field url: it is no text/)
    await hooks.put('still-sent')
    const { items } = await hooks.feed()
    await until('all came', () => receiver.taken.length === items.length)
    await assert.rejects(hooks.running.restart(), /SVC_WEBHOOKS_FILE: .*webhooks\.json: item 1 \(hook-0\), field url/)
    assert.equal(hooks.logged('worker.unavailable').length, 1)
    hooks.service = null
  })

  it('private addresses are not asked unless their network is allowed', async (t) => {
    const receiver = await receiving(t)
    const hooks = await Hooks.open(t)
    await hooks.secret('secret', secret)
    await hooks.says(hooks.item('hook-0', receiver))
    await hooks.start(engine, { SVC_WEBHOOKS_ALLOW_PRIVATE: '10.0.0.0/8' })
    await until('it is delivered', () => hooks.logged('webhook.started').length === 1)
    await hooks.put('a')
    await until('it is blocked', async () => (await hooks.standing('hook-0')).errorCode === 'blocked')
    assert.equal(receiver.asked, 0)
    const [told] = hooks.logged('webhook.step_failed')
    assert.match(String(told?.['why']), /127\.0\.0\.1 is this machine \(loopback\), and that is not allowed/)
    assert.doesNotMatch(JSON.stringify(told), /\/hook/, 'the path of the address is not told')
  })

  it('what the file names no more is given up, and nothing is kept for it', async (t) => {
    const receiver = await receiving(t)
    const hooks = await started(t, receiver)
    await hooks.says()
    await until('it stops', () => hooks.logged('webhook.stopped').length === 1)
    // Noticed by one look, and given up by one that comes much later.
    await until('it is gone', async () => {
      hooks.running.clock.advance(11 * minute)
      return (await hooks.standing('hook-0')) === undefined
    })
  })

  it('one whose repository is missing says so, and begins with the first event of it', async (t) => {
    const [early, gone] = [await receiving(t), await receiving(t)]
    const hooks = await Hooks.open(t)
    await hooks.secret('secret', secret)
    await hooks.says(hooks.item('early', early, { repository: 'later' }), hooks.item('gone', gone))
    await hooks.start(engine)
    await until('one is delivered', () => hooks.logged('webhook.started').length === 1)
    const state = async (id: string) => (await hooks.standing(id))?.state
    await until('the other waits', async () => (await state('early')) === 'no_repository')
    const { running } = hooks
    const credential = running.recoveryKey
    await createRepository(running, 'later')
    // The recovery key writes to `releases` alone.
    await inDatabase(running, (tx) => appendJournal(tx, publishedLine('later', running.clock.now())))
    await until('it came', () => early.taken.length === 1)
    assert.equal(early.taken[0]?.id, 'later:1')
    assert.equal(await state('early'), 'delivering')

    await expectAnswer(running, { method: 'DELETE', path: base, credential }, 204)
    await until('the first waits as well', async () => (await state('gone')) === 'no_repository')
    await until('the log says so', () =>
      /no repository releases/.test(JSON.stringify(hooks.logged('webhook.step_failed'))),
    )
    await createRepository(running, 'releases')
    await hooks.put('again')
    const { items } = await hooks.feed()
    await until('it goes on', () => gone.taken.length >= items.length)
    assert.deepEqual(gone.taken, items)
  })

  it('what it was not sent for too long is lost, and that is told everywhere', async (t) => {
    const receiver = await receiving(t)
    receiver.checksTime = false
    const hooks = await Hooks.open(t)
    await hooks.secret('secret', secret)
    await hooks.says(hooks.item('hook-0', receiver))
    await hooks.start(engine, { SVC_JOURNAL_RETENTION_DAYS: '1' })
    await until('it is delivered', () => hooks.logged('webhook.started').length === 1)
    receiver.answer = (response) => void response.writeHead(500).end()
    await hooks.put('old')
    const { head: lost } = await hooks.feed()
    const lines = () => inDatabase(hooks.running, (tx) => tx.selectFrom('journal').select('sequence').execute())
    /** The worker looks when it starts. */
    const pass = async (ms: number): Promise<void> => {
      hooks.running.clock.advance(ms)
      await hooks.running.restart()
    }
    await pass(30 * day)
    await until('it is told that lines are held', () => hooks.logged('journal.lines_held').length > 0)
    assert.equal((await lines()).length, Number(lost))
    await pass(2 * day)
    await until('they are gone', async () => (await lines()).length === 0)
    assert.equal(hooks.logged('journal.lines_lost').length, 1)
    assert.equal((await hooks.standing('hook-0')).lostEvents, Number(lost), 'at once, while its receiver refuses')
    await until('what was read before is refused', async () => {
      const { failures } = await hooks.standing('hook-0')
      return failures >= 3 || hooks.logged('webhook.events_lost').length > 0
    })
    receiver.answer = null
    await hooks.put('young')
    hooks.running.clock.advance(hour)
    const { items } = await hooks.feed()
    await until('the young ones came', () => receiver.taken.length >= items.length)
    assert.deepEqual(receiver.taken, items)
    assert.equal(items[0].sequence, String(Number(lost) + 1))
    await until('it is told', () => hooks.logged('webhook.events_lost').length > 0)
    assert.equal((await hooks.standing('hook-0')).lostEvents, Number(lost))
    assert.deepEqual(
      hooks.logged('webhook.events_lost').map(({ from, to, events }) => [from, to, events]),
      [[1, Number(lost), Number(lost)]],
    )
    const told = { path: '/health/metrics', credential: hooks.running.recoveryKey }
    const { text } = await expectAnswer(hooks.running, told, 200)
    assert.match(text, new RegExp(`^svc_webhook_lost_events\\{webhook="hook-0"\\} ${lost}$`, 'm'))
  })
})
