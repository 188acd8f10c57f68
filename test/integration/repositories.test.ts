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
import { inDatabase, securityAudit } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const repositories = '/api/v1/repositories'

after(closeConnections)

forEachEngine((engine) => {
  describe('repositories', () => {
    let service: TestService
    let owner: Person
    let person: Person

    before(async () => {
      service = await startService(engine, { settings: { SVC_CLEANUP_GRACE_HOURS: '0' } })
      owner = await createOwner(service)
      person = await createPerson(service, 'person')
    })
    after(() => service.stop())

    const create = (id: unknown, credential = owner.token): Promise<Told> =>
      service.ask({ path: repositories, credential, json: { id } })
    const remove = (id: string, credential = owner.token): Promise<Told> =>
      service.ask({ method: 'DELETE', path: `${repositories}/${id}`, credential })
    const card = (id: string, credential: string): Promise<Told> =>
      service.ask({ path: `${repositories}/${id}`, credential })

    it('begin with releases, which the first owner and the recovery key see', async () => {
      for (const credential of [owner.token, service.recoveryKey]) {
        const { items, next } = (await service.ask({ path: repositories, credential })).json
        assert.equal(next, null)
        assert.equal(items.length, 1)
        assert.deepEqual(Object.keys(items[0]), ['id', 'formats', 'permissions'])
        assert.equal(items[0].id, 'releases')
        assert.deepEqual(items[0].formats, ['upack', 'assets'])
        assert.equal(items[0].permissions.length, 20)
        assert.deepEqual((await card('releases', credential)).json, items[0])
      }
    })

    it('are created by administrators, and creating one gives access to nobody', async () => {
      const told = await create('fresh')
      assert.equal(told.status, 201)
      assert.deepEqual(told.json, { id: 'fresh', formats: ['upack', 'assets'], permissions: [] })
      for (const credential of [owner.token, service.recoveryKey, person.token])
        assert.equal((await card('fresh', credential)).status, 404)
      assert.equal((await create('fresh-2', service.recoveryKey)).status, 201)
      for (const credential of [person.token, service.healthKey]) {
        assert.equal((await create('never', credential)).status, 403)
        assert.equal((await remove('fresh', credential)).status, 403)
        assert.equal((await remove('missing', credential)).status, 403)
      }
    })

    it('have ids of 1 to 64 lowercase letters, digits, _ and -', async () => {
      for (const id of ['a', '0', 'x'.repeat(64), 'a-b_c-', '9z']) assert.equal((await create(id)).status, 201, id)
      for (const id of [
        '',
        '-a',
        '_a',
        'A',
        'a.b',
        'a b',
        'x'.repeat(65),
        'ä',
        'a/b',
        '..',
        'a\n',
        'a\u0000',
        5,
        null,
      ]) {
        const told = await create(id)
        assert.equal(told.status, 400, JSON.stringify(id))
        assert.equal(told.json.details[0].pointer, '/id')
      }
    })

    it('have one id each, also when several ask for it at once', async () => {
      const told = await Promise.all(Array.from({ length: 4 }, () => create('contested')))
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 409, 409, 409])
      assert.equal((await create('releases')).json.code, 'already_exists')
    })

    it('are listed by id in pages, only those that the caller sees', async () => {
      const reader = await createPerson(service, 'lister')
      const ids = ['l-1', 'l-2', 'l-3', 'l-a', 'l_b']
      for (const id of ids) await createRepository(service, id)
      for (const id of ids.filter((each) => each !== 'l-2')) await grant(service, reader, id, 'read')
      const wanted = ['l-1', 'l-3', 'l-a', 'l_b']
      for (const limit of [1, 2, 3, 4, 5, 100]) {
        const found: string[] = []
        let after: string | null = ''
        while (after !== null) {
          const path: string = `${repositories}?limit=${limit}${after === '' ? '' : `&after=${after}`}`
          const { items, next } = (await service.ask({ path, credential: reader.token })).json
          assert.ok(items.length <= limit)
          found.push(...items.map(({ id }: { id: string }) => id))
          after = next
        }
        assert.deepEqual(found, wanted, `by ${limit}`)
      }
      const after = await service.ask({ path: `${repositories}?after=l-2`, credential: reader.token })
      assert.equal(after.json.items[0].id, 'l-3')
      for (const query of ['limit=0', 'limit=101', 'after=', 'after=A', 'limit=x', 'limit=%31%30%31'])
        assert.equal((await service.ask({ path: `${repositories}?${query}`, credential: reader.token })).status, 400)
    })

    it('are deleted when empty, with every grant on them', async () => {
      await createRepository(service, 'short-lived')
      const group = await grant(service, person, 'short-lived', 'write')
      assert.equal((await card('short-lived', person.token)).status, 200)
      assert.equal((await remove('short-lived')).status, 204)
      assert.equal((await card('short-lived', person.token)).status, 404)
      assert.equal((await remove('short-lived')).status, 404)
      const { grants } = (await service.ask({ path: `/api/v1/access-groups/${group}`, credential: owner.token })).json
      assert.deepEqual(grants, [])
      // Somebody else's new repository of that name is not theirs.
      assert.equal((await create('short-lived')).status, 201)
      assert.equal((await card('short-lived', person.token)).status, 404)
      assert.equal((await remove('UPPER')).status, 400)
    })

    it('are not deleted while something is stored or on its way', async () => {
      await createRepository(service, 'in-use')
      await grant(service, person, 'in-use', 'write')
      const upload = await service.ask({
        path: `${repositories}/in-use/uploads`,
        credential: person.token,
        headers: { 'idempotency-key': 'k' },
        json: { name: 'a', size: '5', sha256: hash('sha256', 'hello') },
      })
      assert.equal(upload.status, 201)
      const busy = await remove('in-use')
      assert.deepEqual([busy.status, busy.json.code], [409, 'repository_not_empty'])
      const content = await service.ask({
        method: 'PUT',
        path: `${repositories}/in-use/uploads/${upload.json.id}/content`,
        credential: person.token,
        headers: { 'content-type': 'application/octet-stream' },
        body: 'hello',
      })
      assert.equal(content.status, 200, content.text)
      assert.equal((await remove('in-use')).json.code, 'repository_not_empty')
      assert.equal((await card('in-use', person.token)).status, 200)
    })

    it('are deleted or written to, never both', async () => {
      for (let round = 0; round < 4; round++) {
        const id = `race-${round}`
        await createRepository(service, id)
        await grant(service, person, id, 'write')
        const path = `${repositories}/${id}/raw/file`
        const [put, gone] = await Promise.all([
          service.ask({ method: 'PUT', path, credential: person.token, body: `bytes ${round}` }),
          remove(id),
        ])
        const outcome = `${put.status} ${gone.status}`
        assert.ok(['201 409', '404 204'].includes(outcome), `${outcome} ${put.text}`)
        const { status } = await card(id, person.token)
        assert.equal(status, gone.status === 204 ? 404 : 200)
      }
    })

    it('count on in their journal when an id comes back, one beyond the old one', async () => {
      const head = (id: string): Promise<number> =>
        inDatabase(service, async (q) => {
          const row = await q.selectFrom('repositories').select('journal_head').where('id', '=', id).executeTakeFirst()
          return row?.journal_head ?? -1
        })
      await createRepository(service, 'reborn')
      await inDatabase(service, (q) =>
        q.updateTable('repositories').set({ journal_head: 41 }).where('id', '=', 'reborn').execute(),
      )
      assert.equal((await remove('reborn')).status, 204)
      await createRepository(service, 'reborn')
      assert.equal(await head('reborn'), 42)
      await grant(service, person, 'reborn', 'write')
      const path = `${repositories}/reborn/raw/first`
      const put = await service.ask({ method: 'PUT', path, credential: person.token, body: 'first bytes' })
      assert.equal(put.status, 201)
      assert.equal(put.json.revision, 1)
      const sequences = await inDatabase(service, (q) =>
        q.selectFrom('journal').select('sequence').where('repository', '=', 'reborn').orderBy('sequence').execute(),
      )
      assert.equal(sequences[0]?.sequence, 43)
      assert.equal(await head('reborn'), sequences.at(-1)?.sequence)
    })

    it('leave a line in the security audit when they come and go', async () => {
      const { length } = await securityAudit(service)
      await createRepository(service, 'audited')
      await remove('audited')
      await create('releases')
      await remove('missing')
      const rows = (await securityAudit(service)).slice(length)
      assert.deepEqual(
        rows.map(({ actor, action, subject }) => [actor, action, subject]),
        [
          ['key:bootstrap-owner', 'repository.create', 'repository:audited'],
          [`account:${owner.id}`, 'repository.delete', 'repository:audited'],
        ],
      )
    })
  })

  describe('keys of the file', () => {
    let service: TestService
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
      service = await startService(engine)
      await createOwner(service)
      await service.restart({ SVC_KEYS_FILE: path })
    })
    after(async () => {
      await service.stop()
      await rm(folder, { recursive: true })
    })

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

  describe('the recovery key and the health key', () => {
    let service: TestService
    let owner: Person
    before(async () => {
      service = await startService(engine)
      owner = await createOwner(service)
      await createRepository(service, 'other')
    })
    after(() => service.stop())

    const outcomes = async (credential: string, repository: string): Promise<Map<string, number>> => {
      const found = new Map<string, number>()
      for (const { id, method, path } of catalogue()) {
        const there = path.replaceAll(/\{([a-zA-Z]+)\*?\}/g, (_, name: string) =>
          name === 'repository' ? repository : '00000000-0000-7000-8000-000000000000',
        )
        const told = await service.ask({ method, path: `${there}?surprise=1`, credential })
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
        const path = operation.path.replaceAll(/\{([a-zA-Z]+)\*?\}/g, (_, name: string) =>
          name === 'repository' ? 'releases' : '00000000-0000-7000-8000-000000000000',
        )
        await service.ask({ path, credential: service.recoveryKey })
      }
      assert.equal((await securityAudit(service)).length, length)
    })
  })
})
