import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'

onSqlite((engine) => {
  describe('a file that the disk has only in part', () => {
    let service: TestService
    before(async () => {
      service = await startService(engine)
    })
    after(() => service.stop())

    /** Stores so many bytes, of which so many are left. */
    const shortened = async (path: string, bytes: number, left: number): Promise<string> => {
      const body = randomBytes(bytes)
      const put = await service.ask({ method: 'PUT', path: `${raw}/${path}`, credential: service.recoveryKey, body })
      assert.equal(put.status, 201, put.text)
      const digest = hash('sha256', body)
      const [stored = ''] = globSync(join(service.dataDir, 'blobs', digest.slice(0, 2), `${digest}-*`))
      await truncate(stored, left)
      return `${raw}/${path}`
    }
    const get = (path: string, headers: Record<string, string> = {}) =>
      service.ask({ path, credential: service.recoveryKey, headers })
    const slotsHeld = async (): Promise<boolean> => {
      const { text } = await service.ask({ path: '/health/metrics', credential: service.healthKey })
      return /^svc_download_slots_held [1-9]/m.test(text)
    }

    it('is answered with 500 where its beginning is missing, told once in the log, and keeps no slot', async () => {
      const path = await shortened('beginning', 900_000, 500_000)
      for (const headers of [{}, { range: 'bytes=0-899998' }, { range: 'bytes=600000-700000' }]) {
        const logged = service.log.length
        const got = await get(path, headers)
        assert.equal(got.status, 500)
        assert.equal(got.json.code, 'internal')
        const told = service.log.slice(logged).filter((line) => line.includes('"level":"error"'))
        assert.equal(told.length, 1, told.join('\n'))
        assert.ok(told[0]?.includes(got.json.requestId))
      }
      await until('no slot is held', async () => !(await slotsHeld()))
    })

    it('breaks off where more is missing, and the log says why', async () => {
      const path = await shortened('end', 6_000_000, 5_000_000)
      const logged = service.log.length
      await assert.rejects(get(path))
      await until('it is told', () => service.log.slice(logged).some((line) => line.includes('"level":"error"')))
      await until('no slot is held', async () => !(await slotsHeld()))
    })

    it('is no matter of the log where the client goes away', async () => {
      const path = await shortened('whole', 6_000_000, 6_000_000)
      const logged = service.log.length
      const { promise: cut, resolve } = Promise.withResolvers<void>()
      const aborted = new AbortController()
      const answer = await fetch(`${service.url}${path}`, {
        headers: { authorization: `Bearer ${service.recoveryKey}` },
        signal: aborted.signal,
      })
      const reader = answer.body?.getReader()
      await reader?.read()
      aborted.abort()
      reader?.read().catch(() => resolve())
      await cut
      await until('no slot is held', async () => !(await slotsHeld()))
      assert.deepEqual(
        service.log.slice(logged).filter((line) => line.includes('"level":"error"')),
        [],
      )
    })
  })
})
