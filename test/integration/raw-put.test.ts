import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
  })
  after(() => service.stop())

  it('stores a file under a path and gives it back', async () => {
    const path = '/api/v1/repositories/releases/raw/a/b.txt'
    const put = await service.ask({ method: 'PUT', path, credential: owner.token, body: 'hello' })
    assert.equal(put.status, 201)
    assert.equal(put.json.created, true)
    const got = await service.ask({ path, credential: owner.token })
    assert.equal(got.status, 200)
    assert.equal(got.text, 'hello')
  })
})
