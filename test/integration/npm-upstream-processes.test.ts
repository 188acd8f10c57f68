import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { npmUpstreamDocumentsAtOnce } from '../../src/kernel/limits/npm-upstream.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { bytes, type HostileRegistry, startHostileRegistry } from '../harness/hostile-registry.ts'
import { credentialsFile, lookThrough, npmClient } from '../harness/npm-upstreams.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('an upstream of several processes', () => {
    let registry: HostileRegistry
    let elsewhere: HostileRegistry
    let service: TestService
    let other: TestService
    let reader: TestService
    let owner: Person
    let file: Awaited<ReturnType<typeof credentialsFile>>
    before(async () => {
      registry = await startHostileRegistry()
      elsewhere = await startHostileRegistry()
      file = await credentialsFile([`//${new URL(registry.url).host}/:_authToken=upstream-secret`])
      const settings = { SVC_NPM_UPSTREAM_CREDENTIALS_FILE: file.path }
      service = await startService(engine, { settings })
      other = await startService(engine, { on: service, settings, roles: { gateway: 'api', worker: false } })
      reader = await startService(engine, { on: service, settings, roles: { gateway: 'reader', worker: false } })
      owner = await createOwner(service)
      await lookThrough(service, 'releases', { url: registry.url, freshSeconds: 0 })
    })
    after(async () => {
      for (const each of [reader, other, service]) await each.stop()
      for (const each of [registry, elsewhere]) await each.leave()
      await file.remove()
    })
    const at = (each: TestService, repository?: string) => npmClient(each, owner.token, repository)
    const asked = (path: string): number => registry.asked.filter((each) => each === path).length

    it('is asked once for what both want', async () => {
      const tarball = await registry.publish({ name: 'both', version: '1.0.0' })
      const path = '/both/-/both-1.0.0.tgz'
      const { promise, resolve } = Promise.withResolvers<void>()
      registry.at(path, (request, response) => void promise.then(() => bytes(tarball)(request, response)))
      const first = at(service).tarball('both', '1.0.0')
      await until('one has asked', async () => (asked(path) > 0 ? true : null))
      const second = at(other).tarball('both', '1.0.0')
      await until('the other has seen the document', async () => (asked('/both') > 1 ? true : null))
      resolve()
      for (const told of await Promise.all([first, second])) assert.ok(told.bytes.equals(tarball), told.text)
      assert.equal(asked(path), 1)
    })

    it('is asked by the next one where a process died that asked', async () => {
      const tarball = await registry.publish({ name: 'orphan', version: '1.0.0' })
      const leased = (version: string, ms: number) => ({
        ...{ repository: 'releases', name: 'orphan', version, holder: 'a dead process' },
        leased_until: new Date(service.clock.now() + ms).toISOString(),
      })
      await inDatabase(service, (tx) =>
        tx
          .insertInto('npm_fetches')
          .values([leased('', -1), leased('1.0.0', 30_000)])
          .execute(),
      )
      const waiting = at(service).tarball('orphan', '1.0.0')
      await until('the document is here', async () =>
        (await at(other).kept()).some(({ name }) => name === 'orphan') ? true : null,
      )
      service.clock.advance(31_000)
      assert.ok((await waiting).bytes.equals(tarball))
      const left = await inDatabase(service, (q) => q.selectFrom('npm_fetches').selectAll().execute())
      assert.deepEqual(left, [])
    })

    it('is asked for nothing by a process that only reads, which serves what is kept', async () => {
      const tarball = await registry.publish({ name: 'read', version: '1.0.0' })
      const before = registry.asked.length
      for (const told of [await at(reader).document('read'), await at(reader).tarball('read', '1.0.0')]) {
        assert.deepEqual([told.status, told.json.code], [424, 'upstream_unusable'])
        assert.match(told.json.error, /this gateway only reads/)
      }
      assert.equal(registry.asked.length, before)
      await at(service).tarball('read', '1.0.0')
      const known = await at(service).document('read')
      const again = registry.asked.length
      assert.equal((await at(reader).document('read')).json._rev, known.json._rev)
      assert.ok((await at(reader).tarball('read', '1.0.0')).bytes.equals(tarball))
      assert.equal(registry.asked.length, again)
    })

    it('gets its credential, and nobody else does, nor is it told', async () => {
      const tarball = await registry.publish({ name: 'secret', version: '1.0.0' })
      elsewhere.at('/moved.tgz', bytes(tarball))
      registry.at('/secret/-/secret-1.0.0.tgz', (_request, response) =>
        response.writeHead(302, { location: `${elsewhere.url}/moved.tgz` }).end(),
      )
      assert.ok((await at(service).tarball('secret', '1.0.0')).bytes.equals(tarball))
      assert.equal(registry.headers.at(-1)?.authorization, 'Bearer upstream-secret')
      assert.equal(elsewhere.headers.at(-1)?.authorization, undefined)
      assert.doesNotMatch(service.log.join('\n'), /upstream-secret/)
      const { text } = await service.ask({
        path: '/api/v1/repositories/releases/npm-upstream',
        credential: owner.token,
      })
      assert.doesNotMatch(text, /secret/)
    })

    it('that is the repository itself, or leads back to it, ends in an answer', async () => {
      await createRepository(service, 'circle')
      await grant(service, owner, 'circle', 'read')
      const { host } = new URL(service.url)
      const own = await credentialsFile([`//${host}/npm/:_authToken=${owner.token}`])
      await service.restart({ SVC_NPM_UPSTREAM_CREDENTIALS_FILE: own.path, SVC_LISTEN: host })
      await lookThrough(service, 'circle', { url: `${service.url}/npm/releases`, freshSeconds: 0 })
      await lookThrough(service, 'releases', { url: `${service.url}/npm/circle`, freshSeconds: 0 })
      for (const repository of ['circle', 'releases'])
        assert.equal((await at(service, repository).document('nowhere')).status, 404)
      // Each is asked by its own client while the other one asks it.
      const since = performance.now()
      const told = await Promise.all(
        ['circle', 'releases'].map((repository) => at(service, repository).document('nowhere-at-once')),
      )
      assert.ok(performance.now() - since < 10_000, `${performance.now() - since} ms`)
      for (const { status, text } of told) assert.ok(status === 404 || status === 503, text)
      // So many that all places are taken by questions which wait for questions that have none.
      const names = Array.from({ length: npmUpstreamDocumentsAtOnce + 2 }, (_, index) => `nowhere-${index}`)
      const began = performance.now()
      await Promise.all(
        ['circle', 'releases'].flatMap((repository) => names.map((name) => at(service, repository).document(name))),
      )
      assert.ok(performance.now() - began < 14_000, `${performance.now() - began} ms`)
      await lookThrough(service, 'releases', { url: `${service.url}/npm/releases`, freshSeconds: 0 })
      assert.equal((await at(service).document('nowhere')).status, 404)
      await own.remove()
    })
  })
})
