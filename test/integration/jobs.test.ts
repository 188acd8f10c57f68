import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { completionInlineBytesMax, partBytesMin } from '../../src/kernel/limits/transfers.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine, onSqlite, type TestEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { digestOf } from '../harness/inspection.ts'
import { assertPublished, fileOfParts, openSession, sendParts } from '../harness/parts.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { type NewFile, newFile } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const post = (service: TestService, path: string, credential: string): Promise<Told> =>
  service.ask({ method: 'POST', path, credential })

/** Sends a file in parts, all of them. */
const sent = async (service: TestService, credential: string, file: NewFile): Promise<string> => {
  const upload = await openSession(service, credential, 'one', file)
  await sendParts(service, credential, upload, file)
  return upload
}

const ended = (service: TestService, credential: string, id: string) =>
  until('the job has ended', async () => {
    const { json } = await expectAnswer(service, { path: `/api/v1/jobs/${id}`, credential }, 200)
    return json.status === 'completed' || json.status === 'failed' ? json : null
  })

/** A gateway alone, and a writer. */
const gatewayAlone = async (engine: TestEngine): Promise<{ service: TestService; writer: Person }> => {
  const service = await startService(engine, { roles: { gateway: 'api', worker: false } })
  await createOwner(service)
  await createRepository(service, 'one')
  const writer = await createPerson(service, 'writer')
  await grant(service, writer, 'one', 'write')
  return { service, writer }
}

const startWorker = (engine: TestEngine, service: TestService): Promise<TestService> =>
  startService(engine, { on: service, roles: { gateway: null, worker: true } })

forEachEngine((engine) => {
  describe('a completion job', () => {
    let service: TestService
    let writer: Person
    before(async () => {
      ;({ service, writer } = await gatewayAlone(engine))
    })
    after(() => service.stop())
    const completeAsync = (upload: string, credential = writer.token): Promise<Told> =>
      post(service, `${upload}/complete-async`, credential)

    it('waits for a worker, is the same however often it is asked for, and publishes the file', async () => {
      const file = fileOfParts('waits', 1)
      const upload = await sent(service, writer.token, file)
      const told = await completeAsync(upload)
      assert.equal(told.status, 202, told.text)
      const { id } = told.json
      assert.deepEqual(told.json, {
        id,
        uploadId: upload.slice(upload.lastIndexOf('/') + 1),
        repository: 'one',
        owner: `account:${writer.id}`,
        status: 'queued',
        generation: 0,
        attempts: 0,
        errorCode: null,
      })
      assert.equal(told.headers.location, `/api/v1/jobs/${id}`)
      assert.deepEqual((await completeAsync(upload)).json, told.json)
      const worker = await startWorker(engine, service)
      const done = await ended(service, writer.token, id)
      await worker.stop()
      assert.deepEqual(done, { ...told.json, status: 'completed', attempts: 1 })
      await assertPublished(service, writer.token, upload, file)
      const again = await completeAsync(upload)
      assert.deepEqual([again.status, again.json.code], [409, 'upload_state'])
    })

    it('is done already when somebody completes the upload at once', async () => {
      const file = fileOfParts('overtaken', 0, 10)
      const upload = await sent(service, writer.token, file)
      const { id } = (await completeAsync(upload)).json
      const worker = await startWorker(engine, service)
      const told = await post(service, `${upload}/complete`, writer.token)
      assert.equal(told.status, 200, told.text)
      assert.equal((await ended(service, writer.token, id)).status, 'completed')
      await worker.stop()
    })

    it('fails at once when the content is another one, and stays as it is', async () => {
      const file = fileOfParts('another', 0, 10)
      const wrong = { ...file, descriptor: { ...file.descriptor, sha256: digestOf('something else') } }
      const upload = await sent(service, writer.token, wrong)
      const { id } = (await completeAsync(upload)).json
      const worker = await startWorker(engine, service)
      const failed = await ended(service, writer.token, id)
      await worker.stop()
      assert.deepEqual([failed.status, failed.attempts, failed.errorCode], ['failed', 1, 'integrity_mismatch'])
      const again = await completeAsync(upload)
      assert.equal(again.status, 202)
      assert.deepEqual(again.json, failed)
    })

    it('ends with its upload when that is cancelled', async () => {
      const upload = await sent(service, writer.token, fileOfParts('cancelled', 0, 10))
      const { id } = (await completeAsync(upload)).json
      await expectAnswer(service, { method: 'DELETE', path: upload, credential: writer.token }, 200)
      const failed = await ended(service, writer.token, id)
      assert.deepEqual([failed.status, failed.errorCode], ['failed', 'upload_state'])
    })

    it('is seen by who asked for it, as long as they may read jobs there; to others there is none', async () => {
      const account = await createServiceAccount(service, [
        binding('one', 'upload.create', 'upload.write', 'upload.complete', 'upload.read', 'job.read'),
      ])
      const bindings = account.bindings
      const key = await activeKey(service, account.id, { bindings })
      const blind = await activeKey(service, account.id, {
        bindings: [binding('one', 'upload.create', 'upload.complete')],
      })
      const upload = await sent(service, key.secret, newFile('by key', 'by key'))
      const told = await completeAsync(upload, key.secret)
      assert.deepEqual([told.json.owner, told.json.credentialId], [`service-account:${account.id}`, key.id])
      const path = `/api/v1/jobs/${told.json.id}`
      assert.deepEqual((await expectAnswer(service, { path, credential: key.secret }, 200)).json, told.json)
      await expectAnswer(service, { path, credential: blind.secret }, 403, 'permission_missing')
      await expectAnswer(service, { path, credential: writer.token }, 404, 'not_found')
      await expectAnswer(service, { path, credential: service.recoveryKey }, 404, 'not_found')
      await expectAnswer(service, { path: '/api/v1/jobs/x', credential: writer.token }, 404, 'not_found')
      await expectAnswer(service, { path, credential: null }, 401, 'credential_missing')
    })
  })
})

onSqlite((engine) => {
  it('what takes longer to read than a request may is read by the worker, and the request waits for it', async () => {
    const { service, writer } = await gatewayAlone(engine)
    const bytes = Buffer.alloc(completionInlineBytesMax + partBytesMin, 'large')
    const file = newFile('large', bytes)
    const upload = await sent(service, writer.token, file)
    // What was hashed while it came is forgotten.
    await service.restart()
    const told = post(service, `${upload}/complete`, writer.token)
    const worker = await startWorker(engine, service)
    assert.equal((await told).status, 200, (await told).text)
    await worker.stop()
    await assertPublished(service, writer.token, upload, file)
    await service.stop()
  })
})
