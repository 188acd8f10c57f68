import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { chunked, digestOf, type Inspection, inlineDigests, openInspection } from '../harness/inspection.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const most = 16 * 1024

forEachEngine((engine) => {
  describe('small files', () => {
    let service: TestService
    let inspection: Inspection
    beforeEach(async () => {
      service = await startService(engine, { settings: inTheDatabase })
      inspection = await openInspection(service)
    })
    afterEach(async () => {
      await inspection.close()
      await service.stop()
    })

    const put = (path: string, body: Buffer | Readable): Promise<Told> =>
      service.ask({ method: 'PUT', path: `${raw}/${path}`, credential: service.recoveryKey, body })
    const get = (path: string, headers: Record<string, string> = {}): Promise<Told> =>
      service.ask({ path: `${raw}/${path}`, credential: service.recoveryKey, headers })
    const inDatabase = async (): Promise<string[]> => (await inlineDigests(inspection.database.reader)).sort()
    const inStore = async (): Promise<number> => (await Array.fromAsync(inspection.store.list())).length

    it('are in the database up to the setting, by whatever door they come, and are read like all others', async () => {
      const [small, largest, sent] = [randomBytes(100), randomBytes(most), randomBytes(200)]
      assert.equal((await put('small', small)).status, 201)
      assert.equal((await put('largest', chunked(largest))).status, 201)
      await publish(service, service.recoveryKey, 'releases', newFile('sent', sent))
      assert.deepEqual(await inDatabase(), [small, largest, sent].map(digestOf).sort())
      assert.equal(await inStore(), 0)
      // Another process has none of them in its memory.
      await service.restart()
      assert.ok((await get('largest')).bytes.equals(largest))
      const range = await get('small', { range: 'bytes=10-19' })
      assert.deepEqual([range.status, range.bytes], [206, small.subarray(10, 20)])
      await inspection.inOrder()
    })

    it('that are larger than the setting are in the store', async () => {
      const [declared, undeclared] = [randomBytes(most + 1), randomBytes(most + 2)]
      assert.equal((await put('declared', declared)).status, 201)
      assert.equal((await put('undeclared', chunked(undeclared))).status, 201)
      assert.deepEqual(await inDatabase(), [])
      assert.equal(await inStore(), 2)
      assert.ok((await get('undeclared')).bytes.equals(undeclared))
    })

    it('are refused beyond the limit of a file also where that is less than the setting', async () => {
      await service.restart({ SVC_MAX_OBJECT_BYTES: '1000' })
      for (const body of [Buffer.alloc(1001), chunked(Buffer.alloc(1001))])
        assert.deepEqual((await put('large', body)).json.code, 'body_too_large')
      assert.equal((await put('small', chunked(Buffer.alloc(1000)))).status, 201)
    })

    it('move by themselves when the setting is another, are counted, and leave nothing behind', async () => {
      const [one, two] = [randomBytes(100), randomBytes(200)]
      await put('one', one)
      await put('two', two)
      const all = [one, two].map(digestOf).sort()
      const measured = async (name: string): Promise<number> => {
        const { text } = await service.ask({ path: '/health/metrics', credential: service.healthKey })
        return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
      }
      await service.restart(inTheStore)
      await until('they are in the store', async () => (await inDatabase()).length === 0)
      assert.deepEqual(await inspection.stored(), all)
      await until('they are counted', async () => (await measured('svc_inline_files')) === 0)
      await service.restart(inTheDatabase)
      await until('they are in the database', async () => (await inDatabase()).length === 2)
      assert.deepEqual(await inDatabase(), all)
      await until('they are counted', async () => (await measured('svc_inline_bytes')) === 300)
      assert.equal(await measured('svc_inline_files'), 2)
      assert.ok((await measured('svc_database_bytes')) > 100_000)
      await until('what they left in the store is removed', async () => {
        await inspection.upkeep()
        return (await inStore()) === 0
      })
      assert.ok((await get('one')).bytes.equals(one))
      await inspection.inOrder()
    })
  })
})
