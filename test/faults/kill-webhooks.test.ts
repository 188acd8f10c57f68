import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { second } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { assertAnswer, expectAnswer } from '../harness/expect.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'
import { startService } from '../harness/service.ts'
import { type ServiceApart, startServiceApart } from '../harness/service-apart.ts'
import { until } from '../harness/until.ts'
import { firstTimes, type Receiver, startReceiver } from '../harness/webhook-receiver.ts'

/**
 * Workers that share subscriptions die and come back while receivers refuse, cut, redirect and are slow: each receiver
 * sees every event, in order, and what it sees again it has seen before.
 */
endProgramsAfterTests()
after(closeConnections)

const base = '/api/v1/repositories/releases'
const secret = 'a secret of sixteen bytes or more'
const rounds = 8

const refusals: readonly ((response: ServerResponse) => void)[] = [
  (response) => void response.writeHead(500).end(),
  (response) => void response.writeHead(410).end('no more'),
  (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  (response) => void response.destroy(),
  (response) => void response.socket?.resetAndDestroy(),
]

forEachEngine((engine) => {
  it('every event comes in order, whatever becomes of workers and receivers', { timeout: 240_000 }, async (t) => {
    const random = randomOf(`webhooks on ${engine.name}`)
    const below = (bound: number): number => Math.floor(random() * bound)
    const folder = await mkdtemp(join(tmpdir(), 'svc-kill-hooks-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'secret'), secret)
    const receivers: Receiver[] = []
    for (let n = 0; n < 3; n++) {
      const receiver = await startReceiver(secret)
      receiver.checksTime = false
      receivers.push(receiver)
      t.after(() => receiver[Symbol.asyncDispose]())
    }
    const webhooks = receivers.map(({ url }, n) => ({
      id: `hook-${n}`,
      repository: 'releases',
      url,
      secretFile: join(folder, 'secret'),
    }))
    const file = join(folder, 'webhooks.json')
    await writeFile(file, JSON.stringify({ webhooks }), { mode: 0o600 })
    const service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    t.after(() => service.stop())
    const workers: ServiceApart[] = []
    for (let n = 0; n < 2; n++) {
      const worker = await startServiceApart(engine, {
        on: service,
        roles: { gateway: null, worker: true },
        settings: { SVC_WEBHOOKS_FILE: file, SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.1' },
      })
      workers.push(worker)
      t.after(() => worker.stop())
    }
    const list = async () =>
      (await expectAnswer(service, { path: '/api/v1/webhooks', credential: service.recoveryKey }, 200)).json.items
    await until('all were taken by a worker', async () => (await list()).length === receivers.length)
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
      for (const receiver of receivers) {
        const refusal = refusals[below(2 * refusals.length)]
        receiver.answer = refusal ?? null
      }
      for (let n = 0; n < 1 + below(6); n++) await put(`file-${round}-${n}`)
      const victim = workers[below(workers.length)]
      if (below(3) > 0) {
        await victim?.kill()
        await victim?.start()
      }
      await passTime()
    }
    for (const receiver of receivers) receiver.answer = null
    const { head } = (await expectAnswer(service, { path: `${base}/changes`, credential: service.recoveryKey }, 200))
      .json
    const all = Array.from({ length: Number(head) }, (_, n) => n + 1)
    for (const [n, receiver] of receivers.entries()) {
      await until(`receiver ${n} has all`, async () => {
        await passTime()
        return firstTimes(receiver.taken).length === all.length
      })
      assert.deepEqual(firstTimes(receiver.taken), all)
      assert.deepEqual(receiver.faults, [])
    }
    await until('that is noted', async () =>
      (await list()).every((item: { position: string }) => item.position === head),
    )
  })
})
