import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { reads } from '../../src/contract/operation.ts'
import { actionsOf } from '../../src/kernel/actions.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { securityAudit } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const repositories = '/api/v1/repositories'

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    await createRepository(service, 'other')
  })
  after(() => service.stop())

  describe('the recovery key and the health key', () => {
    const outcomes = async (credential: string, repository: string): Promise<Map<string, number>> => {
      const found = new Map<string, number>()
      for (const { id, method, path } of catalogue()) {
        const there = path.replaceAll(/\{([a-zA-Z]+)[*+]?\}/g, (_, name: string) =>
          name === 'repository' ? repository : '00000000-0000-7000-8000-000000000000',
        )
        const told = await service.ask({ method, path: `${there}?surprise=%ff`, credential })
        found.set(id, told.status)
      }
      return found
    }

    it('are readable by nobody but their owner', async () => {
      for (const name of ['bootstrap-token.txt', 'health-token.txt', 'keys.json'])
        assert.equal(statSync(join(service.dataDir, 'config', name)).mode & 0o777, 0o600, name)
      assert.equal(statSync(join(service.dataDir, 'config')).mode & 0o777, 0o700)
      assert.match(service.recoveryKey, /^[0-9a-f]{64}$/)
    })

    it('the recovery key may do all that stands for administrators, and read and write releases', async () => {
      const here = await outcomes(service.recoveryKey, 'releases')
      const carried: ReadonlySet<string> = actionsOf('write')
      for (const operation of catalogue()) {
        const { access } = operation
        const { kind } = access
        // Deletion and storage are for service keys alone.
        if (access.kind === 'repository' && access.actions.some((action) => !carried.has(action))) {
          assert.equal(here.get(operation.id), 403, operation.id)
          continue
        }
        // Of service accounts it sees all, of jobs its own; the one that is asked for does not exist.
        const hidden = kind === 'administration' || kind === 'own-job'
        const expected = kind === 'session' || kind === 'own-key' ? 403 : hidden ? 404 : 400
        assert.equal(here.get(operation.id), expected, operation.id)
      }
    })

    it('the recovery key may not see another repository', async () => {
      const there = await outcomes(service.recoveryKey, 'other')
      for (const { id, access } of catalogue()) if (access.kind === 'repository') assert.equal(there.get(id), 404, id)
    })

    it('the recovery key creates the first owner and all others, resets passwords and manages groups', async () => {
      const person = await createPerson(service, 'made-by-key')
      await grant(service, person, 'other', 'write')
      const json = { password: 'quite another password' }
      const path = `/api/v1/users/${person.id}`
      const reset = await service.ask({ method: 'PATCH', path, credential: service.recoveryKey, json })
      assert.equal(reset.status, 200)
      const me = await service.ask({ path: '/api/v1/auth/me', credential: owner.token })
      assert.equal(me.json.administrator, true)
    })

    it('the health key looks at health, and at nothing but what any credential may see', async () => {
      const may = await outcomes(service.healthKey, 'releases')
      for (const { id, access } of catalogue()) {
        const expected = {
          repository: 404,
          administrator: 403,
          session: 403,
          'service-administrator': 403,
          'own-key': 403,
          administration: 404,
          'own-job': 404,
          system: 403,
        }
        const refused = new Map(Object.entries(expected)).get(access.kind)
        assert.equal(may.get(id), refused ?? 400, id)
      }
      for (const path of ['/health/ready', '/health/metrics'])
        assert.equal((await service.ask({ path, credential: service.healthKey })).status, 200)
      const seen = await service.ask({ path: repositories, credential: service.healthKey })
      assert.deepEqual(seen.json, { items: [], next: null })
    })

    it('nothing that reads leaves a line in the security audit', async () => {
      const { length } = await securityAudit(service)
      for (const operation of catalogue().filter(reads)) {
        const path = operation.path.replaceAll(/\{([a-zA-Z]+)[*+]?\}/g, (_, name: string) =>
          name === 'repository' ? 'releases' : '00000000-0000-7000-8000-000000000000',
        )
        await service.ask({ path, credential: service.recoveryKey })
      }
      assert.equal((await securityAudit(service)).length, length)
    })
  })

  describe('keys of the file', () => {
    let folder: string
    const secrets = Object.fromEntries(
      ['bootstrap-owner', 'reading', 'writing', 'both', 'admin', 'operator', 'nothing', 'unborn'].map((id) => [
        id,
        randomBytes(32).toString('hex'),
      ]),
    )
    const key = (id: string): string => secrets[id] ?? ''
    const entry = (id: string, repository: string | null, permissions: string[] = [], flags: object = {}) => ({
      id,
      sha256: hash('sha256', key(id)),
      repositories: repository === null ? [] : [{ repository, permissions }],
      ...flags,
    })
    const keysFile = () => ({
      keys: [
        entry('bootstrap-owner', 'releases', ['read', 'write'], { administrator: true, serviceAdministrator: true }),
        entry('reading', 'releases', ['read']),
        entry('writing', 'releases', ['write']),
        entry('both', 'releases', ['read', 'write']),
        entry('admin', null, [], { administrator: true }),
        entry('operator', null, [], { serviceAdministrator: true }),
        entry('nothing', 'releases', []),
        entry('unborn', 'later', ['read', 'write']),
      ],
    })

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'svc-keys-'))
      const path = join(folder, 'keys.json')
      await writeFile(path, JSON.stringify(keysFile()))
      await service.restart({ SVC_KEYS_FILE: path })
    })
    after(() => rm(folder, { recursive: true }))

    const get = (path: string, credential: string): Promise<Told> => service.ask({ path, credential })
    const put = (credential: string, path = 'file'): Promise<Told> =>
      service.ask({ method: 'PUT', path: `${repositories}/releases/raw/${path}`, credential, body: 'bytes' })

    it('are those of the file that the setting names, and no others', async () => {
      assert.equal((await get('/api/v1/auth/me', service.recoveryKey)).json.code, 'credential_invalid')
      assert.equal((await get('/api/v1/auth/me', service.healthKey)).json.code, 'credential_invalid')
      for (const id of Object.keys(secrets)) {
        const me = await get('/api/v1/auth/me', key(id))
        assert.equal(me.status, 200, id)
        assert.equal(me.json.id, id)
        assert.equal(me.json.credential, 'file-key')
      }
      // What is in the file is a digest, and no credential.
      assert.equal((await get('/api/v1/auth/me', hash('sha256', key('both')))).status, 401)
    })

    it('read with read, write with write, and do both with both', async () => {
      const grants = async (id: string) => (await get('/api/v1/auth/me', key(id))).json.grants
      const both = [{ repository: 'releases', permissions: ['read', 'write'] }]
      assert.deepEqual(await grants('reading'), [{ repository: 'releases', permissions: ['read'] }])
      assert.deepEqual(await grants('both'), both)
      assert.deepEqual(await grants('writing'), [{ repository: 'releases', permissions: ['write'] }])
      assert.equal((await put(key('reading'))).json.code, 'permission_missing')
      assert.equal((await put(key('both'))).status, 201)
      assert.equal((await get(`${repositories}/releases/raw/file`, key('reading'))).text, 'bytes')
      for (const id of ['nothing', 'admin', 'operator', 'unborn'])
        assert.equal((await get(`${repositories}/releases/raw/file`, key(id))).status, 404, id)
    })

    it('write with write alone, and read and list nothing', async () => {
      const writing = key('writing')
      const sent = await publish(service, writing, 'releases', newFile('written', 'blindly'))
      assert.equal((await get(`${repositories}/releases/artifacts/${sent}`, key('both'))).status, 200)
      const paths = [
        '',
        '/artifacts',
        `/artifacts/${sent}`,
        `/artifacts/${sent}/content`,
        '/search?q=w',
        '/audit',
        '/changes',
      ]
      for (const path of [
        ...paths,
        '/assets',
        '/raw/file',
        '/packages',
        '/promotions',
        `/artifacts/${sent}/annotations`,
      ]) {
        const told = await get(`${repositories}/releases${path}`, writing)
        assert.ok([403, 404].includes(told.status), `${path} ${told.status}`)
      }
      assert.deepEqual((await get(repositories, writing)).json.items, [])
      assert.equal((await put(writing)).json.code, 'permission_missing')
    })

    it('see a repository that comes later, and not before', async () => {
      assert.equal((await get(`${repositories}/later`, key('unborn'))).status, 404)
      assert.deepEqual((await get(repositories, key('unborn'))).json.items, [])
      const json = { id: 'later' }
      const made = await service.ask({ path: repositories, credential: key('admin'), json })
      assert.equal(made.status, 201)
      assert.equal((await get(`${repositories}/later`, key('unborn'))).status, 200)
      assert.equal((await get(repositories, key('unborn'))).json.items[0].id, 'later')
    })

    it('administer with the flag and only with it, and it gives no files', async () => {
      for (const id of ['admin', 'bootstrap-owner']) assert.equal((await get('/api/v1/users', key(id))).status, 200, id)
      for (const id of ['both', 'operator', 'nothing'])
        assert.equal((await get('/api/v1/users', key(id))).json.code, 'permission_missing', id)
      assert.deepEqual((await get(repositories, key('admin'))).json.items, [])
    })

    it('stop the start with one sentence when the file is wrong', async () => {
      const path = join(folder, 'wrong.json')
      const [one] = keysFile().keys
      const again = { ...one, id: 'again' }
      const wrong: Record<string, string> = {
        'not JSON': '{"keys": [',
        'a list': '[]',
        'no keys': '{}',
        'another field': JSON.stringify({ keys: [{ ...one, secret: 'hush-hush-hush' }] }),
        'a digest that is none': JSON.stringify({ keys: [{ ...one, sha256: key('both').slice(1) }] }),
        'an unknown permission': JSON.stringify({ keys: [entry('x', 'releases', ['admin'])] }),
        'an id that is no repository': JSON.stringify({ keys: [entry('x', 'Releases', ['read'])] }),
        'two keys with one id': JSON.stringify({ keys: [one, one] }),
        'two keys with one secret': JSON.stringify({ keys: [one, again] }),
      }
      for (const [what, text] of Object.entries(wrong)) {
        await writeFile(path, text)
        await assert.rejects(startService(engine, { settings: { SVC_KEYS_FILE: path } }), (error: Error) => {
          assert.equal(error.name, 'SettingsInvalid', what)
          assert.match(error.message, /^SVC_KEYS_FILE: .*wrong\.json .+$/, what)
          assert.ok(!error.message.includes('\n'), what)
          for (const secret of ['hush-hush-hush', key('both').slice(1)])
            assert.ok(!error.message.includes(secret), what)
          return true
        })
      }
      const missing = { SVC_KEYS_FILE: join(folder, 'missing.json') }
      await assert.rejects(
        startService(engine, { settings: missing }),
        /^SettingsInvalid: SVC_KEYS_FILE: .* does not exist$/,
      )
    })
  })
})
