import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { indexType } from '../harness/images.ts'
import { publishPackage } from '../harness/packages.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { inDatabase, securityAudit } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

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
        assert.deepEqual(Object.keys(items[0]), ['id', 'formats', 'permissions', 'filled', 'counts'])
        assert.deepEqual(items[0].filled, { publishedBytes: '0', lastChangeAt: null })
        assert.equal(items[0].id, 'releases')
        assert.deepEqual(items[0].formats, ['upack', 'assets'])
        assert.equal(items[0].permissions.length, 20)
        assert.deepEqual((await card('releases', credential)).json, { ...items[0], inUse: [] })
      }
    })

    it('say what they hold, to whom it may be listed', async () => {
      const credential = owner.token
      await create('holding')
      await grant(service, owner, 'holding', 'write')
      const bindings = ['repository.read', 'package.read'] as const
      const robot = await createServiceAccount(service, [binding('holding', ...bindings)])
      const key = await activeKey(service, robot.id, { bindings: [binding('holding', ...bindings)] })
      const inUse = async (shown = credential) => (await card('holding', shown)).json.inUse
      assert.deepEqual(await inUse(), [])
      assert.equal((await card('holding', key.secret)).json.filled, null)
      const path = '/v2/holding/app/manifests/latest'
      const index = { schemaVersion: 2, mediaType: indexType, manifests: [] }
      const headers = { 'content-type': indexType }
      await service.ask({ method: 'PUT', path, credential, headers, body: JSON.stringify(index) })
      assert.deepEqual(await inUse(), ['images'])
      const id = await publishPackage(service, credential, 'holding', { name: 'hello', version: '1.0.0' })
      assert.deepEqual(await inUse(), ['files', 'images'])
      const register = `${repositories}/holding/artifacts/${id}/package`
      assert.equal((await service.ask({ method: 'POST', path: register, credential })).status, 200)
      assert.deepEqual(await inUse(), ['files', 'packages', 'images'])
      assert.deepEqual(await inUse(key.secret), ['packages'])
      await publishPackage(service, credential, 'holding', { name: 'hello', version: '1.1.0' })
      const counts = [
        { format: 'files', count: 2, isMore: false },
        { format: 'packages', count: 1, isMore: false },
        { format: 'images', count: 1, isMore: false },
      ]
      const listed = async (shown: string) =>
        (await service.ask({ path: repositories, credential: shown })).json.items.find(
          ({ id }: { id: string }) => id === 'holding',
        ).counts
      for (const told of [(await card('holding', credential)).json.counts, await listed(credential)])
        assert.deepEqual(told, counts)
      assert.deepEqual(await listed(key.secret), counts.slice(1, 2))
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
})
