import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { second } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { assertAnswer, expectAnswer } from '../harness/expect.ts'
import { startMoodyReceivers } from '../harness/moody-receivers.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'
import { startService } from '../harness/service.ts'
import { type ServiceApart, startServiceApart } from '../harness/service-apart.ts'
import { until } from '../harness/until.ts'

/**
 * Workers that share subscriptions die and come back while receivers refuse, cut, redirect, hang, answer late and
 * without end, and replace their secrets: each receiver sees every event, in order, and what it sees again it has seen
 * before.
 */
endProgramsAfterTests()
after(closeConnections)

const base = '/api/v1/repositories/releases'
const rounds = 12

forEachEngine((engine) => {
  it('every event comes in order, whatever becomes of workers and receivers', { timeout: 240_000 }, async (t) => {
    const random = randomOf(`webhooks on ${engine.name}`)
    const below = (bound: number): number => Math.floor(random() * bound)
    const receivers = await startMoodyReceivers(3, random)
    t.after(() => receivers[Symbol.asyncDispose]())
    const service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    t.after(() => service.stop())
    const workers: ServiceApart[] = []
    for (let n = 0; n < 2; n++) {
      const worker = await startServiceApart(engine, {
        on: service,
        roles: { gateway: null, worker: true },
        settings: receivers.settings,
      })
      workers.push(worker)
      t.after(() => worker.stop())
    }
    const list = async () =>
      (await expectAnswer(service, { path: '/api/v1/webhooks', credential: service.recoveryKey }, 200)).json.items
    await until('all were taken by a worker', async () => (await list()).length === receivers.count)
    /** Sent again when told so: a worker whose clock is far ahead takes the transfer's reservation for a lapsed one. */
    const put = async (name: string): Promise<void> => {
      const told = { method: 'PUT', path: `${base}/raw/${name}`, credential: service.recoveryKey, body: name }
      let answer = await service.ask(told)
      while (answer.status === 503) answer = await service.ask(told)
      assertAnswer(told, answer, 201)
    }
    /** Beyond every lease, and beyond every pause so far. */
    const passTime = (): Promise<unknown> => Promise.all(workers.map((worker) => worker.advance(3_700 * second)))

    for (let round = 0; round < rounds; round++) {
      await receivers.change()
      for (let n = 0; n < 1 + below(6); n++) await put(`file-${round}-${n}`)
      const victim = workers[below(workers.length)]
      if (below(3) > 0) {
        await victim?.kill()
        await victim?.start()
      }
      await passTime()
    }
    receivers.calmDown()
    const { head } = (await expectAnswer(service, { path: `${base}/changes`, credential: service.recoveryKey }, 200))
      .json
    const all = Array.from({ length: Number(head) }, (_, n) => n + 1)
    await until('all came', async () => {
      await passTime()
      return receivers.taken().every((taken) => taken.length === all.length)
    })
    for (const taken of receivers.taken()) assert.deepEqual(taken, all)
    receivers.assertSound()
    await until('that is noted', async () =>
      (await list()).every((item: { position: string }) => item.position === head),
    )
  })
})
