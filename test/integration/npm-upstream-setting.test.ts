import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { startHostileRegistry } from '../harness/hostile-registry.ts'
import { lookThrough, npmClient } from '../harness/npm-upstreams.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const path = '/api/v1/repositories/releases/npm-upstream'

forEachEngine((engine) => {
  describe('the upstream of a repository', () => {
    let service: TestService
    let owner: Person
    let writer: Person
    before(async () => {
      service = await startService(engine)
      owner = await createOwner(service)
      writer = await createPerson(service, 'writer')
      await grant(service, writer, 'releases', 'write')
    })
    after(() => service.stop())

    const ask = (method: string, json?: unknown, headers: Record<string, string> = {}, credential = owner.token) =>
      service.ask({ method, path, credential, headers, ...(json === undefined ? {} : { json }) })
    const isRefused = ({ status, json }: Told, code: string, expected: number): void => {
      assert.deepEqual([status, json.code], [expected, code])
    }

    it('is none at first, and is what administrators and the recovery key say', async () => {
      isRefused(await ask('GET'), 'not_found', 404)
      isRefused(await ask('DELETE'), 'not_found', 404)
      const url = 'https://registry.npmjs.org/'
      const made = await ask('PUT', { url }, { 'if-none-match': '*' })
      assert.equal(made.status, 200, made.text)
      const { savedAt: _, ...told } = made.json
      assert.deepEqual(told, {
        url: 'https://registry.npmjs.org',
        reserved: [],
        freshSeconds: 300,
        actor: `account:${owner.id}`,
        actorName: 'owner',
      })
      const read = await ask('GET', undefined, {}, service.recoveryKey)
      assert.deepEqual([read.json, read.headers['etag']], [made.json, made.headers['etag']])
      for (const method of ['GET', 'PUT', 'DELETE'])
        assert.equal((await ask(method, method === 'PUT' ? { url } : undefined, {}, writer.token)).status, 403)
      assert.equal((await ask('DELETE')).status, 204)
      isRefused(await ask('GET'), 'not_found', 404)
    })

    it('is changed only by who has seen it as it is', async () => {
      const first = await lookThrough(service, 'releases', { url: 'https://one.example' })
      const etag = String(first.headers['etag'])
      isRefused(await ask('PUT', { url: 'https://two.example' }, { 'if-none-match': '*' }), 'precondition_failed', 412)
      isRefused(await ask('PUT', { url: 'https://two.example' }, { 'if-match': '"1"' }), 'precondition_failed', 412)
      isRefused(await ask('PUT', { url: 'https://two.example' }, { 'if-match': 'x' }), 'invalid_request', 400)
      const second = await ask('PUT', { url: 'https://two.example' }, { 'if-match': etag })
      assert.equal(second.status, 200, second.text)
      isRefused(await ask('DELETE', undefined, { 'if-match': etag }), 'precondition_failed', 412)
      assert.equal((await ask('DELETE', undefined, { 'if-match': String(second.headers['etag']) })).status, 204)
      const third = await lookThrough(service, 'releases', { url: 'https://one.example' })
      assert.notEqual(third.headers['etag'], etag)
    })

    it('is an address that may be typed, and says where a wrong one is wrong', async () => {
      for (const [json, words] of [
        [{ url: 'http://registry.example.org' }, /\/url: plain HTTP is for localhost/],
        [{ url: 'ftp://registry.example.org' }, /\/url: it is no address/],
        [{ url: 'https://me:secret@registry.example.org' }, /\/url: it has a user name/],
        [{ url: 'https://registry.example.org/?a' }, /\/url: it has a query/],
        [{ url: 'https://x', reserved: ['@Acme/*'] }, /\/reserved\/0/],
        [{ url: 'https://x', reserved: ['a', 'a'] }, /\/reserved/],
        [{ url: 'https://x', freshSeconds: -1 }, /\/freshSeconds/],
        [{ url: 'https://x', token: 'secret' }, /token/],
        [{}, /\/url/],
      ] as const) {
        const told = await ask('PUT', json)
        isRefused(told, 'invalid_request', 400)
        assert.match(told.text, words)
        assert.doesNotMatch(told.text, /secret@/)
      }
      const missing = { path: path.replace('releases', 'nowhere'), credential: owner.token }
      assert.equal((await service.ask(missing)).status, 404)
      assert.equal((await service.ask({ ...missing, method: 'PUT', json: { url: 'https://x' } })).status, 404)
      assert.equal((await service.ask({ ...missing, path: `${missing.path}/packages`, method: 'DELETE' })).status, 404)
    })

    it('is told in the security audit, and goes with its repository', async () => {
      await createRepository(service, 'passing')
      await lookThrough(service, 'passing', { url: 'https://one.example' })
      const audit = await expectAnswer(
        service,
        { path: '/api/v1/security-audit?order=desc', credential: owner.token },
        200,
      )
      const [last] = audit.json.items
      assert.deepEqual([last.action, last.subject], ['npm-upstream.set', 'repository:passing'])
      const repository = '/api/v1/repositories/passing'
      await expectAnswer(service, { method: 'DELETE', path: repository, credential: owner.token }, 204)
      await createRepository(service, 'passing')
      const told = await service.ask({ path: `${repository}/npm-upstream`, credential: owner.token })
      assert.equal(told.status, 404)
    })

    it('keeps names that are ours, or reserved, from ever being asked for', async (t) => {
      const registry = await startHostileRegistry()
      t.after(() => registry.leave())
      await lookThrough(service, 'releases', {
        url: registry.url,
        reserved: ['@acme/*', 'internal-*'],
        freshSeconds: 0,
      })
      const client = npmClient(service, owner.token)
      for (const name of ['@acme/app', 'internal-tool', '@ACME/app', 'Internal-tool', 'node_modules', '.hidden', '-x'])
        for (const told of [
          await client.document(name),
          await client.tarball(name, '1.0.0'),
          await client.ask(`/${name.replace('/', '%2f')}/latest`),
          await client.ask(`/-/package/${name.replace('/', '%2f')}/dist-tags`),
        ])
          assert.equal(told.status, 404, name)
      assert.deepEqual(registry.asked, [])
    })
  })
})
