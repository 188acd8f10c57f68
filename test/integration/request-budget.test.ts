import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson } from '../harness/people.ts'
import { startService } from '../harness/service.ts'

after(closeConnections)

const me = '/api/v1/auth/me'

forEachEngine((engine) => {
  it('lets no caller take more than its share, never counts health, and keeps callers apart', async () => {
    const service = await startService(engine)
    try {
      const owner = await createOwner(service)
      const other = await createPerson(service, 'other')
      const json = { name: 'script' }
      const { token } = (
        await expectAnswer(service, { path: '/api/v1/auth/tokens', credential: other.token, json }, 201)
      ).json
      await service.restart({ SVC_REQUESTS_PER_SECOND: '1' })

      // A hundred at once: however slow the machine is, they cannot all fit into what a second brings.
      const rush = await Promise.all(
        Array.from({ length: 100 }, () => service.ask({ path: me, credential: owner.token })),
      )
      const refused = rush.filter(({ status }) => status === 429)
      assert.ok(rush.some(({ status }) => status === 200))
      assert.ok(refused.length > 50, `${refused.length} of 100 were refused`)
      for (const told of refused) {
        assert.equal(told.json.code, 'rate_limited')
        assert.equal(told.headers['retry-after'], '1')
      }
      const health = await Promise.all(
        ['/health/live', '/health/status', '/health/ready', '/health/metrics'].flatMap((path) =>
          Array.from({ length: 20 }, () => service.ask({ path, credential: owner.token })),
        ),
      )
      assert.ok(health.every(({ status }) => status === 200))

      await expectAnswer(service, { path: me, credential: other.token }, 200)
      await expectAnswer(service, { path: me, credential: service.recoveryKey }, 200)
      await expectAnswer(service, { path: '/api/v1/auth/options' }, 200)
      // A token is its account: a caller gets no second share by making tokens.
      const both = await Promise.all(
        Array.from({ length: 40 }, (_, i) => service.ask({ path: me, credential: i % 2 === 0 ? token : other.token })),
      )
      const served = both.filter(({ status }) => status === 200).length
      assert.ok(served < 10, `${served} of 40 were served`)

      for (;;) {
        const told = await service.ask({ path: me, credential: owner.token })
        if (told.status === 200) break
        assert.equal(told.status, 429)
      }

      // What is refused counts as well: looking for what one may not see, and trying credentials.
      const rushOf = (path: string, credential: (index: number) => string) =>
        Promise.all(Array.from({ length: 100 }, (_, index) => service.ask({ path, credential: credential(index) })))
      const statuses = (told: readonly { status: number }[]): Set<number> => new Set(told.map(({ status }) => status))
      const looking = await rushOf('/api/v1/repositories/missing', () => service.healthKey)
      assert.deepEqual(statuses(looking), new Set([404, 429]))
      const guessing = await rushOf(me, (index) => `pat_${String(index).padStart(43, 'x')}`)
      assert.deepEqual(statuses(guessing), new Set([401, 429]))
      await expectAnswer(service, { path: me, credential: service.recoveryKey }, 200)
    } finally {
      await service.stop()
    }
  })
})
