import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, grant, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
  })
  after(() => service.stop())

  const get = (path: string, headers: Record<string, string> = {}, credential: string | null = owner.token) =>
    service.ask({ path: `/npm/releases${path}`, headers, credential })

  it('is there at its address, with a slash and without', async () => {
    for (const path of ['', '/']) {
      const told = await get(path)
      assert.deepEqual([told.status, told.json], [200, {}])
    }
  })

  describe('what is not there', () => {
    it('is told as one sentence, in JSON, in both forms', async () => {
      for (const accept of ['application/json', 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8'])
        for (const path of [
          '/nothing',
          '/@scope%2fnothing',
          '/nothing/1.0.0',
          '/nothing/-/nothing-1.0.0.tgz',
          '/-/no/such',
        ]) {
          const told = await get(path, { accept })
          assert.equal(told.status, 404, path)
          assert.equal(told.headers['content-type'], 'application/json')
          assert.equal(typeof told.json.error, 'string')
        }
    })
  })

  it('asks who does not say who they are, in words for people and in one for clients', async () => {
    const told = await get('/', {}, null)
    assert.equal(told.status, 401)
    assert.match(String(told.headers['www-authenticate']), /^Bearer realm=/)
    assert.match(told.json.error, /_authToken/)
  })

  it('takes a credential as the password of Basic, whoever is named', async () => {
    const basic = Buffer.from(`somebody:${owner.token}`).toString('base64')
    const told = await get('/', { authorization: `Basic ${basic}` }, null)
    assert.equal(told.status, 200)
  })

  it('does not exist for whoever may not see the repository', async () => {
    const stranger = await createPerson(service, 'stranger')
    assert.equal((await get('/', {}, stranger.token)).status, 404)
    const reader = await createPerson(service, 'reader')
    await grant(service, reader, 'releases', 'read')
    assert.equal((await get('/', {}, reader.token)).status, 200)
  })
})
