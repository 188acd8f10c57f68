import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

/** A database that is lost, replaced or another's: noticed before anything is made of it. */
after(closeConnections)

forEachEngine((engine) => {
  describe('a database and its store', () => {
    let service: TestService
    before(async () => {
      service = await startService(engine)
      const path = '/api/v1/repositories/releases/raw/kept'
      const put = await service.ask({ method: 'PUT', path, credential: service.recoveryKey, body: 'kept' })
      assert.equal(put.status, 201, put.text)
    })
    after(() => service.stop())

    if (engine.name === 'sqlite')
      it('are not ready while the file of the database is gone', async () => {
        const file = service.databaseUrl.slice('sqlite:'.length)
        const status = async (): Promise<number> => (await service.ask({ path: '/health/status' })).status
        await until('it is ready', async () => (await status()) === 200)
        await rename(file, `${file}.aside`)
        try {
          await until('it is not ready', async () => {
            // What was seen is believed for a second by the clock of the service.
            service.clock.advance(1_000)
            return (await status()) === 503
          })
          assert.equal((await service.ask({ path: '/health/live' })).status, 200)
        } finally {
          await rename(`${file}.aside`, file)
        }
        service.clock.advance(1_000)
        await until('it is ready again', async () => (await status()) === 200)
      })

    it('belong together: no service starts with another database, until it is told so', async () => {
      const on = { ...service, databaseUrl: await engine.freshDatabaseUrl() }
      await assert.rejects(startService(engine, { on }), /belongs to the installation .*adopt-store/)
    })
  })
})
