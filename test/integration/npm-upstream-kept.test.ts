import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { examineService } from '../harness/doctor.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { bytes, type HostileRegistry, startHostileRegistry } from '../harness/hostile-registry.ts'
import { npmPublisher } from '../harness/npm-packages.ts'
import { lookThrough, npmClient } from '../harness/npm-upstreams.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const base = '/api/v1/repositories/releases'

forEachEngine((engine) => {
  describe('what came from an upstream', () => {
    let registry: HostileRegistry
    let service: TestService
    let owner: Person
    let keeper: string
    let client: ReturnType<typeof npmClient>
    before(async () => {
      registry = await startHostileRegistry()
      service = await startService(engine, { settings: { SVC_CLEANUP_GRACE_HOURS: '0' } })
      owner = await createOwner(service)
      client = npmClient(service, owner.token)
      const bindings = [binding('releases', 'artifact.delete', 'artifact.read', 'storage.manage', 'storage.read')]
      const account = await createServiceAccount(service, bindings)
      keeper = (await activeKey(service, account.id, { bindings })).secret
      await lookThrough(service, 'releases', { url: registry.url, freshSeconds: 0 })
    })
    after(async () => {
      await service.stop()
      await registry.leave()
    })

    const drop = async (query: string, credential = service.recoveryKey) =>
      service.ask({ method: 'DELETE', path: `${base}/npm-upstream/packages${query}`, credential })
    const usage = async (): Promise<number> =>
      Number(
        (await expectAnswer(service, { path: `${base}/storage/usage`, credential: keeper }, 200)).json.publishedBytes,
      )
    const sound = async (): Promise<void> => assert.deepEqual((await examineService(service)).damage, [])
    /** The tarball of a version is held back until it is let go. */
    const holdBack = (name: string, tarball: Buffer): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      registry.at(`/${name}/-/${name}-1.0.0.tgz`, (request, response) => {
        void promise.then(() => bytes(tarball)(request, response))
      })
      return resolve
    }
    const asked = (path: string): number => registry.asked.filter((each) => each === path).length

    it('is listed apart, counted and told, and can be dropped', async () => {
      const before = await usage()
      const tarball = await registry.publish({ name: 'listed', version: '1.0.0' })
      await client.tarball('listed', '1.0.0')
      assert.equal((await usage()) - before, tarball.byteLength)
      const [listed] = (await client.kept()).filter(({ name }) => name === 'listed')
      assert.deepEqual(
        [listed.url, listed.versions, listed.leftOut, listed.tarballs, listed.tarballBytes, listed.failure],
        [registry.url, 1, 0, 1, String(tarball.byteLength), null],
      )
      const list = async (path: string) =>
        (await expectAnswer(service, { path: `${base}${path}`, credential: owner.token }, 200)).json.items
      const [version] = await list('/npm-upstream/versions?package=listed')
      assert.deepEqual([version.version, version.actorName], ['1.0.0', 'owner'])
      assert.deepEqual(
        (await list('/npm/packages')).filter(({ name }: { name: string }) => name === 'listed'),
        [],
      )
      assert.equal((await client.ask('/-/v1/search?text=listed')).json.total, 0)
      const lines = async () =>
        (await list('/changes?limit=100')).map(({ action, detail }: Record<string, string>) => `${action} ${detail}`)
      assert.ok((await lines()).includes('package.fetch listed@1.0.0'))

      assert.equal((await drop('?package=listed', owner.token)).status, 200)
      assert.equal(await usage(), before)
      assert.ok((await lines()).includes('package.drop listed@1.0.0'))
      assert.deepEqual((await drop('?package=listed')).json, { packages: 0, tarballs: 0, bytes: '0' })
      assert.equal((await drop('?package=listed', keeper)).status, 403)
      assert.ok((await client.tarball('listed', '1.0.0')).bytes.equals(tarball))
      assert.equal(asked('/listed/-/listed-1.0.0.tgz'), 2)
      await sound()
    })

    it('is served as it was where its package was dropped, and made anew by a tarball, while its document came', async () => {
      const tarball = await registry.publish({ name: 'remade', version: '1.0.0' })
      const before = await client.document('remade')
      const letGo = holdBack('remade', tarball)
      const fetching = client.tarball('remade', '1.0.0')
      await until('the tarball is under way', () => asked('/remade/-/remade-1.0.0.tgz') === 1)
      const { promise, resolve } = Promise.withResolvers<void>()
      const asks = asked('/remade')
      const changed = before.text.replaceAll(`${service.url}/npm/releases`, registry.url).replace('{', '{"x":1,')
      registry.at('/remade', (_request, response) => void promise.then(() => response.end(changed)))
      const reading = client.document('remade')
      await until('the document is under way', () => asked('/remade') === asks + 1)
      await drop('?package=remade')
      letGo()
      assert.equal((await fetching).status, 200)
      resolve()
      assert.equal((await reading).text, before.text)
      assert.equal((await client.document('remade')).json.versions['1.0.0'].version, '1.0.0')
      await sound()
    })

    it('is dropped by the version, and the rest stays', async () => {
      await registry.publish({ name: 'partly', version: '1.0.0' })
      await client.tarball('partly', '1.0.0')
      await registry.publish({ name: 'partly', version: '2.0.0' })
      await client.tarball('partly', '2.0.0')
      assert.deepEqual((await drop('?package=partly&version=1.0.0')).json.tarballs, 1)
      const [left] = (await client.kept()).filter(({ name }) => name === 'partly')
      assert.equal(left.tarballs, 1)
      assert.deepEqual((await client.document('partly')).json['dist-tags'], { latest: '2.0.0' })
      await sound()
    })

    it('is hidden by what is published under its name, and goes', async () => {
      await registry.publish({ name: 'taken-over', version: '9.0.0' })
      await client.tarball('taken-over', '9.0.0')
      const npm = npmPublisher(service, owner.token)
      const own = await npm.publish({ name: 'taken-over', version: '1.0.0' })
      assert.deepEqual(Object.keys((await client.document('taken-over')).json.versions), ['1.0.0'])
      assert.equal((await client.tarball('taken-over', '9.0.0')).status, 404)
      assert.ok((await client.tarball('taken-over', '1.0.0')).bytes.equals(own))
      await service.restart()
      await until('what was kept of it is gone', async () =>
        (await client.kept()).some(({ name }) => name === 'taken-over') ? null : true,
      )
      const path = '/npm/releases/taken-over/-/taken-over-1.0.0.tgz/-rev/0'
      await expectAnswer(service, { method: 'DELETE', path, credential: keeper }, 200)
      const before = registry.asked.length
      for (const told of [await client.document('taken-over'), await client.tarball('taken-over', '9.0.0')])
        assert.equal(told.status, 404)
      assert.equal(registry.asked.length, before)
      await sound()
    })

    it('is not kept where its name was published while it came, or the upstream was changed', async () => {
      const race = await registry.publish({ name: 'race', version: '1.0.0' })
      const letGo = holdBack('race', race)
      const waiting = client.tarball('race', '1.0.0')
      await until('the tarball was asked for', async () => (asked('/race/-/race-1.0.0.tgz') > 0 ? true : null))
      await npmPublisher(service, owner.token).publish({ name: 'race', version: '2.0.0' })
      letGo()
      assert.equal((await waiting).status, 404)

      const other = await registry.publish({ name: 'other-race', version: '1.0.0' })
      const letOtherGo = holdBack('other-race', other)
      const alsoWaiting = client.tarball('other-race', '1.0.0')
      await until('the other was asked for', async () =>
        asked('/other-race/-/other-race-1.0.0.tgz') > 0 ? true : null,
      )
      await lookThrough(service, 'releases', { url: registry.url, freshSeconds: 0 })
      letOtherGo()
      assert.equal((await alsoWaiting).status, 503)
      await sound()
    })

    it('is asked for once by many who want it at once, and goes on when they are gone', async () => {
      const tarball = await registry.publish({ name: 'wanted', version: '1.0.0' })
      const letGo = holdBack('wanted', tarball)
      const leaving = new AbortController()
      const gone = fetch(`${service.url}/npm/releases/wanted/-/wanted-1.0.0.tgz`, {
        headers: { authorization: `Bearer ${owner.token}` },
        signal: leaving.signal,
      })
      await until('the tarball was asked for', async () => (asked('/wanted/-/wanted-1.0.0.tgz') > 0 ? true : null))
      leaving.abort()
      await assert.rejects(gone)
      const many = Array.from({ length: 20 }, () => client.tarball('wanted', '1.0.0'))
      letGo()
      for (const told of await Promise.all(many)) assert.ok(told.bytes.equals(tarball))
      assert.equal(asked('/wanted/-/wanted-1.0.0.tgz'), 1)
    })

    it('does not get past the quota, and says so', async () => {
      await registry.publish({ name: 'too-much', version: '1.0.0' })
      const policy = { enabled: false, grouping: 'package', keepLast: 5, channels: [], protectedLabels: [] }
      const rest = { minAgeHours: 0, intervalMinutes: 60, warningPercent: 80, criticalPercent: 90 }
      const put = (expectedRevision: number, quotaBytes: string | null) =>
        expectAnswer(
          service,
          {
            method: 'PUT',
            path: `${base}/storage/policy`,
            credential: keeper,
            json: { expectedRevision, policy: { ...policy, ...rest, quotaBytes } },
          },
          200,
        )
      await put(0, '1')
      const told = await client.tarball('too-much', '1.0.0')
      assert.deepEqual([told.status, told.json.code], [413, 'storage_quota'])
      await put(1, null)
      assert.equal((await client.tarball('too-much', '1.0.0')).status, 200)
      await sound()
    })

    it('is not changed here, and whoever tries is not told that it went well', async () => {
      await registry.publish({ name: 'Theirs', version: '1.0.0' })
      await registry.publish({ name: 'theirs-too', version: '1.0.0' })
      for (const name of ['Theirs', 'theirs-too']) {
        const { json } = await client.document(name)
        for (const request of [
          { method: 'DELETE', path: `/npm/releases/${name}/-rev/${json._rev}`, credential: keeper },
          { method: 'DELETE', path: `/npm/releases/${name}/-/${name}-1.0.0.tgz/-rev/0`, credential: keeper },
          { method: 'PUT', path: `/npm/releases/-/package/${name}/dist-tags/beta`, json: '1.0.0' },
          { method: 'DELETE', path: `/npm/releases/-/package/${name}/dist-tags/latest2` },
          ...(name === 'Theirs' ? [] : [{ method: 'PUT', path: `/npm/releases/${name}`, json }]),
        ]) {
          const told = await service.ask({ credential: owner.token, ...request })
          assert.deepEqual([told.status, told.json.code], [400, 'invalid_request'], told.text)
          assert.match(told.json.error, /is not published here: it comes from the upstream registry/)
        }
      }
    })

    it('that is gone there is told of no more, while its tarballs stay for lock files', async () => {
      const tarball = await registry.publish({ name: 'removed', version: '1.0.0' })
      await client.tarball('removed', '1.0.0')
      registry.at('/removed', (_request, response) => response.writeHead(404).end())
      assert.equal((await client.document('removed')).status, 404)
      assert.ok((await client.tarball('removed', '1.0.0')).bytes.equals(tarball))
      const [kept] = (await client.kept()).filter(({ name }) => name === 'removed')
      assert.deepEqual([kept.failure, kept.versions, kept.tarballs], ['missing', 0, 1])
      await registry.publish({ name: 'removed', version: '1.0.0' })
      assert.equal((await client.document('removed')).status, 200)
      await sound()
    })

    it('is not served as what another upstream has, and goes where that one has something of the name', async (t) => {
      const other = await startHostileRegistry()
      t.after(() => other.leave())
      await createRepository(service, 'moved')
      await grant(service, owner, 'moved', 'write')
      const there = npmClient(service, owner.token, 'moved')
      const tarballs: Buffer[] = []
      for (const name of ['left', 'replaced']) {
        tarballs.push(await registry.publish({ name, version: '1.0.0' }))
        await lookThrough(service, 'moved', { url: registry.url, freshSeconds: 0 })
        assert.equal((await there.tarball(name, '1.0.0')).status, 200)
      }
      const their = await other.publish({ name: 'replaced', version: '1.0.0', description: 'theirs' })
      await lookThrough(service, 'moved', { url: other.url, freshSeconds: 0 })
      for (const told of [await there.document('left'), await there.tarball('left', '1.0.0')])
        assert.equal(told.status, 404)
      const { dist } = (await there.document('replaced')).json.versions['1.0.0']
      assert.equal(dist.integrity, `sha512-${hash('sha512', their, 'base64')}`)
      assert.ok((await there.tarball('replaced', '1.0.0')).bytes.equals(their))
      // What is not there keeps what came before, for whoever goes back.
      await lookThrough(service, 'moved', { url: registry.url, freshSeconds: 0 })
      const asked = registry.asked.length
      assert.ok((await there.tarball('left', '1.0.0')).bytes.equals(tarballs[0] ?? their))
      assert.equal(registry.asked.length, asked)
      await sound()
    })

    it('is not served while there is no upstream, and holds its repository', async () => {
      await createRepository(service, 'passing')
      await grant(service, owner, 'passing', 'write')
      await lookThrough(service, 'passing', { url: registry.url, freshSeconds: 0 })
      await registry.publish({ name: 'held', version: '1.0.0' })
      const there = npmClient(service, owner.token, 'passing')
      assert.equal((await there.tarball('held', '1.0.0')).status, 200)
      const at = '/api/v1/repositories/passing'
      const remove = (path: string, status: number) =>
        expectAnswer(service, { method: 'DELETE', path: `${at}${path}`, credential: owner.token }, status)
      await remove('/npm-upstream', 204)
      for (const told of [await there.document('held'), await there.tarball('held', '1.0.0')])
        assert.equal(told.status, 404)
      await remove('', 409)
      assert.equal((await remove('/npm-upstream/packages', 200)).json.tarballs, 1)
      await until('its bytes are gone', async () => {
        const told = await service.ask({ method: 'DELETE', path: at, credential: owner.token })
        if (told.status === 409) await service.restart()
        return told.status === 204 ? true : null
      })
      await sound()
    })
  })
})
