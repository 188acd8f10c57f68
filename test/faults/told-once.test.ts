import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { engineOn, type TestEngine } from '../harness/engines.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres.ts'
import { startService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { startCuttingProxy } from './cutting-proxy.ts'

after(closeConnections)

const nowhere = 'postgres://nobody@127.0.0.1:1/nothing'

describe('a database that is away', () => {
  let server: PostgresServer
  let engine: TestEngine
  before(async () => {
    server = await startPostgres()
    engine = engineOn(() => server.createDatabase())
  })
  after(() => server.stop())

  it('is told of once when it goes and once when it is back, whatever fails meanwhile', async () => {
    const databaseUrl = await server.createDatabase()
    const proxy = await startCuttingProxy(databaseUrl)
    const service = await startService({ ...engine, readyDatabaseUrl: async () => proxy.url })
    const worth = () =>
      service.log
        .map((line) => JSON.parse(line))
        .filter(({ level, msg }) => level !== 'debug' && msg !== 'request' && msg !== 'started')
    const asks = (status: number) =>
      until(`an answer with ${status}`, async () => {
        const told = await service.ask({ path: '/api/v1/auth/me', credential: `dps_${'0'.repeat(43)}` })
        return told.status === status
      })
    try {
      await asks(401)
      for (const round of [1, 2]) {
        proxy.leadTo(nowhere)
        await asks(503)
        await until('it is told', () => worth().length >= 2 * round - 1)
        // Every part of the upkeep fails at least once, and every request.
        const failed = service.log.length
        await until('the upkeep fails', () => service.log.slice(failed).some((line) => line.includes('runs again in')))
        await asks(503)
        proxy.leadTo(databaseUrl)
        await asks(401)
        await until('its return is told', () => worth().length >= 2 * round)
      }
      const lines = worth()
      assert.deepEqual(
        lines.map(({ msg }) => msg),
        [1, 2].flatMap(() => ['the database does not answer', 'the database answers again']),
        JSON.stringify(lines, null, 1),
      )
      for (const { level, why, awaySeconds, err } of lines) {
        assert.equal(err, undefined)
        if (level === 'error') assert.match(why, /ECONNREFUSED|terminated|does not answer|was lost during a commit/)
        else assert.ok(awaySeconds > 0)
      }
    } finally {
      await service.stop()
      await proxy[Symbol.asyncDispose]()
    }
  })
})
