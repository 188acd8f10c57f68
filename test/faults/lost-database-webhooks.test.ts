import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { minute } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { engineOn } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { startMoodyReceivers } from '../harness/moody-receivers.ts'
import { startPostgres } from '../harness/postgres.ts'
import { randomOf } from '../harness/random.ts'
import { startService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { startCuttingProxy } from './cutting-proxy.ts'

/**
 * The database of the worker goes and comes while it delivers: its connections are cut, commits happen and nobody
 * tells, it falls silent, its server ends and is started again. Each receiver sees every event, in order.
 */
after(closeConnections)

const base = '/api/v1/repositories/releases'
const rounds = 16

it('every event comes in order, whatever becomes of the database of the worker', { timeout: 240_000 }, async (t) => {
  const server = await startPostgres()
  t.after(() => server.stop())
  const engine = engineOn(() => server.createDatabase())
  const random = randomOf('lost databases')
  const below = (bound: number): number => Math.floor(random() * bound)
  const receivers = await startMoodyReceivers(4, random)
  t.after(() => receivers[Symbol.asyncDispose]())
  const service = await startService(engine, { roles: { gateway: 'api', worker: false } })
  t.after(() => service.stop())
  const proxy = await startCuttingProxy(service.databaseUrl)
  t.after(() => proxy[Symbol.asyncDispose]())
  const worker = await startService(engine, {
    on: { ...service, databaseUrl: proxy.url },
    roles: { gateway: null, worker: true },
    settings: receivers.settings,
  })
  t.after(() => worker.stop())
  const lines = () => worker.log.map((line) => JSON.parse(line))
  const logged = (event: string): number => lines().filter((line) => line.event === event).length
  const unavailable = () => lines().filter((line) => line.errorCode === 'unavailable')
  /** One that was begun since it was last told that the database is away: while that lasts it is told once. */
  const someoneIsAtWork = (): boolean => {
    const begun = lines().findLast((line) => line.event === 'webhook.started')
    return !unavailable().some((line) => line.webhook === begun.webhook && line.time > begun.time)
  }
  await until('all are delivered', () => logged('webhook.started') === receivers.count)

  const silences = [2, 9]
  let stored = 0
  const put = async (): Promise<void> => {
    const told = { method: 'PUT', path: `${base}/raw/file-${stored}`, credential: service.recoveryKey, body: 'x' }
    const { status } = await service.ask(told)
    if (status === 201) stored += 1
  }
  for (let round = 0; round < rounds; round++) {
    await receivers.change()
    const upTo = stored + 3 + below(6)
    await until('files are stored', async () => {
      await put()
      if (below(3) === 0) proxy.leadTo(service.databaseUrl)
      if (below(3) === 0) proxy.loseNextCommit()
      return stored >= upTo
    })
    if (silences.includes(round)) {
      await until('somebody is at work', someoneIsAtWork)
      const before = unavailable().length
      proxy.fallSilent()
      await put()
      await until('that is told', () => unavailable().length > before)
      proxy.speak()
    }
    if (round === rounds / 2) {
      await server.halt()
      await server.start()
    }
    worker.clock.advance(61 * minute)
  }
  assert.ok(proxy.lost > 0, 'commits were lost')
  receivers.calmDown()
  const head = await until('the gateway answers', async () => {
    const told = await service.ask({ path: `${base}/changes`, credential: service.recoveryKey })
    return told.status === 200 && told.json.head
  })
  const all = Array.from({ length: Number(head) }, (_, n) => n + 1)
  assert.ok(all.length >= stored)
  // As long as more comes nothing stands still: on a machine without a processor to spare deliveries have it last.
  const came = (): number => receivers.taken().reduce((sum, { length }) => sum + length, 0)
  while (came() < receivers.count * all.length) {
    const before = came()
    await until('more came', () => {
      worker.clock.advance(61 * minute)
      return came() > before
    })
  }
  for (const taken of receivers.taken()) assert.deepEqual(taken, all)
  receivers.assertSound()
  await until('that is noted', async () => {
    const told = { path: '/api/v1/webhooks', credential: service.recoveryKey }
    const { items } = (await expectAnswer(service, told, 200)).json
    return items.every((item: { position: string; lostEvents: number }) => item.position === head)
  })
  assert.equal(logged('webhook.events_lost'), 0)
  assert.equal(logged('webhook.started') - logged('webhook.stopped'), receivers.count, 'an end is told as well')
})
