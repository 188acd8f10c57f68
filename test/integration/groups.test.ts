import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { repositoryActions } from '../../src/kernel/actions.ts'
import { grantsMax, groupsMax, membershipsMax } from '../../src/kernel/limits/identity.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { isEnough, letThrough, probeOf } from '../harness/probe.ts'
import { securityAudit, setCounter } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const groups = '/api/v1/access-groups'
const nobody = '00000000-0000-7000-8000-000000000000'

/** What a grant of read carries (DESIGN, section 7). */
const readActions = [
  'repository.read',
  'artifact.read',
  'artifact.list',
  'content.read',
  'package.read',
  'asset.read',
  'annotation.read',
  'audit.read',
]
/** What a grant of write carries beside it. */
const writeActions = [
  'upload.create',
  'upload.read',
  'upload.write',
  'upload.complete',
  'upload.cancel',
  'job.read',
  'package.publish',
  'asset.write',
  'asset.restore',
  'annotation.write',
  'reference.write',
  'artifact.promote',
]
/** What no person and no file key ever holds. */
const serviceKeyActions = ['artifact.delete', 'storage.read', 'storage.manage', 'diagnostics.read']

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let person: Person

  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    person = await createPerson(service, 'person')
    for (const id of ['one', 'two', 'three']) await createRepository(service, id)
  })
  after(() => service.stop())

  const asAdministrator = (method: string, path: string, json?: unknown): Promise<Told> =>
    service.ask({ method, path, credential: owner.token, ...(json === undefined ? {} : { json }) })

  const newGroup = async (name: string): Promise<string> => {
    const told = await asAdministrator('POST', groups, { name })
    assert.equal(told.status, 201, told.text)
    return `${groups}/${told.json.id}`
  }
  const done = async (told: Promise<Told>): Promise<void> => {
    const { status, text } = await told
    assert.equal(status, 204, text)
    assert.equal(text, '')
  }
  const contents = async (group: string) => {
    const { members, grants } = (await asAdministrator('GET', group)).json
    return { members, grants }
  }
  const sees = async (repository: string, { token }: Person): Promise<boolean> => {
    const { status } = await service.ask({ path: `/api/v1/repositories/${repository}`, credential: token })
    assert.ok(status === 200 || status === 404)
    return status === 200
  }

  describe('a group', () => {
    it('is created empty, read, listed by name and deleted', async () => {
      const told = await asAdministrator('POST', groups, { name: 'Zebra' })
      assert.equal(told.status, 201)
      const { id, ...rest } = told.json
      assert.deepEqual(rest, { name: 'Zebra', members: [], accounts: [], grants: [] })
      assert.deepEqual((await asAdministrator('GET', `${groups}/${id}`)).json, told.json)
      await newGroup('ant')
      await newGroup('Yak')
      const names = (await asAdministrator('GET', groups)).json.items.map(({ name }: { name: string }) => name)
      assert.deepEqual(
        names.filter((name: string) => ['Zebra', 'ant', 'Yak'].includes(name)),
        ['ant', 'Yak', 'Zebra'],
      )
      await done(asAdministrator('DELETE', `${groups}/${id}`))
      assert.equal((await asAdministrator('GET', `${groups}/${id}`)).status, 404)
      assert.equal((await asAdministrator('DELETE', `${groups}/${id}`)).status, 404)
    })

    it('has a name of 2 to 64 letters, digits, _ . and -, told apart without regard to case', async () => {
      for (const name of ['ab', 'x'.repeat(64), 'A.b_c-9']) await newGroup(name)
      for (const name of ['', 'a', 'x'.repeat(65), 'a b', 'a/b', 'ä-ö', 'a\u0000b', 'ab\n', 7, null]) {
        const told = await asAdministrator('POST', groups, { name })
        assert.equal(told.status, 400, JSON.stringify(name))
        assert.equal(told.json.details[0].pointer, '/name')
      }
      for (const name of ['AB', 'a.B_c-9', 'SVC-Owners']) {
        const told = await asAdministrator('POST', groups, { name })
        assert.equal(told.status, 409, name)
        assert.equal(told.json.code, 'already_exists')
      }
      const rivals = await Promise.all(
        ['rival', 'RIVAL', 'Rival'].map((name) => asAdministrator('POST', groups, { name })),
      )
      assert.deepEqual(rivals.map(({ status }) => status).sort(), [201, 409, 409])
    })

    it('is a name that may be taken again once it was deleted', async () => {
      const group = await newGroup('phoenix')
      await done(asAdministrator('DELETE', group))
      assert.notEqual(await newGroup('PHOENIX'), group)
    })

    it('has members, who are added and removed without harm when they are already', async () => {
      const group = await newGroup('members')
      for (let round = 0; round < 2; round++) await done(asAdministrator('PUT', `${group}/members/${person.id}`))
      await done(asAdministrator('PUT', `${group}/members/${owner.id}`))
      assert.deepEqual((await contents(group)).members, [owner.id, person.id].sort())
      for (let round = 0; round < 2; round++) await done(asAdministrator('DELETE', `${group}/members/${person.id}`))
      assert.deepEqual((await contents(group)).members, [owner.id])
    })

    it('has grants, which are set, changed and removed', async () => {
      const group = await newGroup('grants')
      for (const access of ['read', 'read', 'write', 'read'])
        await done(asAdministrator('PUT', `${group}/grants/one`, { access }))
      await done(asAdministrator('PUT', `${group}/grants/two`, { access: 'write' }))
      assert.deepEqual((await contents(group)).grants, [
        { repository: 'one', access: 'read' },
        { repository: 'two', access: 'write' },
      ])
      for (let round = 0; round < 2; round++) await done(asAdministrator('DELETE', `${group}/grants/one`))
      assert.deepEqual((await contents(group)).grants, [{ repository: 'two', access: 'write' }])
      for (const json of [{ access: 'admin' }, { access: null }, {}, { access: ['read'] }, { access: 'read', more: 1 }])
        assert.equal((await asAdministrator('PUT', `${group}/grants/one`, json)).status, 400)
      assert.equal((await asAdministrator('PUT', `${group}/grants/UPPER`, { access: 'read' })).status, 400)
    })

    it('knows neither missing accounts, repositories nor groups', async () => {
      const group = await newGroup('lonely')
      const missing = `${groups}/${nobody}`
      for (const told of [
        await asAdministrator('PUT', `${group}/members/${nobody}`),
        await asAdministrator('PUT', `${group}/grants/missing`, { access: 'read' }),
        await asAdministrator('GET', missing),
        await asAdministrator('PUT', `${missing}/members/${person.id}`),
        await asAdministrator('DELETE', `${missing}/members/${person.id}`),
        await asAdministrator('PUT', `${missing}/grants/one`, { access: 'read' }),
        await asAdministrator('DELETE', `${missing}/grants/one`),
      ]) {
        assert.equal(told.status, 404, told.text)
        assert.equal(told.json.code, 'not_found')
      }
      assert.deepEqual(await contents(group), { members: [], grants: [] })
    })

    it('is one of 100 at most, also when several are created at once', async () => {
      const before = await setCounter(service, 'groups', groupsMax - 1)
      try {
        const told = await Promise.all(['g-a', 'g-b', 'g-c'].map((name) => asAdministrator('POST', groups, { name })))
        assert.deepEqual(told.map(({ status }) => status).sort(), [201, 507, 507])
        assert.equal(told.find(({ status }) => status === 507)?.json.code, 'group_limit')
      } finally {
        await setCounter(service, 'groups', before + 1)
      }
    })

    it('counts towards 10,000 memberships and 10,000 grants of the server', async () => {
      const group = await newGroup('limited')
      await done(asAdministrator('PUT', `${group}/members/${owner.id}`))
      await done(asAdministrator('PUT', `${group}/grants/one`, { access: 'read' }))
      const memberships = await setCounter(service, 'memberships', membershipsMax)
      const grants = await setCounter(service, 'grants', grantsMax)
      try {
        const member = await asAdministrator('PUT', `${group}/members/${person.id}`)
        assert.deepEqual([member.status, member.json.code], [507, 'membership_limit'])
        const granted = await asAdministrator('PUT', `${group}/grants/two`, { access: 'read' })
        assert.deepEqual([granted.status, granted.json.code], [507, 'grant_limit'])
        // What is there already may be said again, and changed.
        await done(asAdministrator('PUT', `${group}/members/${owner.id}`))
        await done(asAdministrator('PUT', `${group}/grants/one`, { access: 'write' }))
        // One goes, so one may come.
        await done(asAdministrator('DELETE', `${group}/members/${owner.id}`))
        await done(asAdministrator('PUT', `${group}/members/${person.id}`))
        await done(asAdministrator('DELETE', `${group}/grants/one`))
        await done(asAdministrator('PUT', `${group}/grants/two`, { access: 'read' }))
      } finally {
        await setCounter(service, 'memberships', memberships)
        await setCounter(service, 'grants', grants)
      }
      assert.deepEqual(await contents(group), {
        members: [person.id],
        grants: [{ repository: 'two', access: 'read' }],
      })
    })

    it('gives back what it counted when it is deleted', async () => {
      const group = await newGroup('counted')
      await done(asAdministrator('PUT', `${group}/members/${owner.id}`))
      await done(asAdministrator('PUT', `${group}/members/${person.id}`))
      await done(asAdministrator('PUT', `${group}/grants/one`, { access: 'read' }))
      const counters = async (by: number): Promise<number[]> => {
        const found: number[] = []
        for (const name of ['groups', 'memberships', 'grants'] as const) {
          const value = await setCounter(service, name, 0)
          await setCounter(service, name, value)
          found.push(value + by)
        }
        return found
      }
      const [groupsBefore = 0, memberships = 0, grants = 0] = await counters(0)
      await done(asAdministrator('DELETE', group))
      assert.deepEqual(await counters(0), [groupsBefore - 1, memberships - 2, grants - 1])
    })

    it('may be deleted while others add to it: nothing is left over, and nobody gets an unclear answer', async () => {
      const others = await Promise.all([1, 2, 3].map((number) => createPerson(service, `adder-${number}`)))
      for (let round = 0; round < 5; round++) {
        const group = await newGroup(`contested-${round}`)
        const told = await Promise.all([
          ...others.map(({ id }) => asAdministrator('PUT', `${group}/members/${id}`)),
          asAdministrator('DELETE', group),
          asAdministrator('PUT', `${group}/grants/one`, { access: 'read' }),
          asAdministrator('PUT', `${group}/grants/two`, { access: 'write' }),
        ])
        for (const { status, text } of told) assert.ok(status === 204 || status === 404, text)
        assert.equal((await asAdministrator('GET', group)).status, 404)
      }
      for (const other of others) assert.equal(await sees('two', other), false)
    })
  })

  describe('what a group gives', () => {
    it('is taken away at once with the membership, the grant or the group', async () => {
      const group = await newGroup('givers')
      const join = () => done(asAdministrator('PUT', `${group}/members/${person.id}`))
      const allow = () => done(asAdministrator('PUT', `${group}/grants/three`, { access: 'read' }))
      assert.equal(await sees('three', person), false)
      await join()
      assert.equal(await sees('three', person), false)
      await allow()
      assert.equal(await sees('three', person), true)
      await done(asAdministrator('DELETE', `${group}/members/${person.id}`))
      assert.equal(await sees('three', person), false)
      await join()
      assert.equal(await sees('three', person), true)
      await done(asAdministrator('DELETE', `${group}/grants/three`))
      assert.equal(await sees('three', person), false)
      await allow()
      assert.equal(await sees('three', person), true)
      await done(asAdministrator('DELETE', group))
      assert.equal(await sees('three', person), false)
    })

    it('is the strongest of all groups, and what is left of them when one goes', async () => {
      const one = await createPerson(service, 'of-two-groups')
      const permissions = async (): Promise<string[]> => {
        const told = await service.ask({ path: '/api/v1/repositories/three', credential: one.token })
        return told.status === 200 ? told.json.permissions : []
      }
      await grant(service, one, 'three', 'read')
      const strong = await grant(service, one, 'three', 'write')
      assert.equal((await permissions()).length, readActions.length + writeActions.length)
      await done(asAdministrator('DELETE', `${groups}/${strong}`))
      assert.deepEqual((await permissions()).sort(), readActions.toSorted())
    })

    it('is exactly the actions of read and of write, in the order of the vocabulary', async () => {
      for (const [access, actions] of [
        ['read', readActions],
        ['write', [...readActions, ...writeActions]],
      ] as const) {
        const one = await createPerson(service, `with-${access}`)
        await grant(service, one, 'three', access)
        const { permissions } = (await service.ask({ path: '/api/v1/repositories/three', credential: one.token })).json
        assert.deepEqual(
          permissions,
          repositoryActions.filter((action) => actions.includes(action)),
        )
      }
      assert.deepEqual(
        repositoryActions.filter((action) => ![...readActions, ...writeActions].includes(action)).sort(),
        serviceKeyActions.toSorted(),
      )
    })

    it('lets into each operation whose actions it carries, and into no other', async () => {
      const callers = {
        read: (await createPerson(service, 'reader')).token,
        write: (await createPerson(service, 'writer')).token,
      }
      for (const [access, name] of [
        ['read', 'reader'],
        ['write', 'writer'],
      ] as const) {
        const { json } = await asAdministrator('GET', '/api/v1/users')
        const { id } = json.items.find((item: { name: string }) => item.name === name)
        await grant(service, { id, name, password: '', token: '' }, 'three', access)
      }
      const carried = { read: readActions, write: [...readActions, ...writeActions] }
      const guarded = catalogue().filter(({ access }) => access.kind === 'repository')
      assert.ok(guarded.length > 10)
      for (const operation of guarded)
        for (const access of ['read', 'write'] as const) {
          const asked = { ...probeOf(operation, { repository: 'three' }), credential: callers[access] }
          const may = isEnough(operation, new Set(carried[access]))
          assert.equal(letThrough(asked, await service.ask(asked)), may, `${operation.id} with ${access}`)
        }
    })

    it('is what administrators need too: without a grant they see no files', async () => {
      const admin = await createPerson(service, 'administrator-only', true)
      for (const credential of [admin.token, owner.token, service.recoveryKey])
        for (const path of ['', '/artifacts', '/assets', '/raw/a.txt']) {
          const told = await service.ask({ path: `/api/v1/repositories/three${path}`, credential })
          assert.equal(told.status, 404, path)
        }
      const listed = await service.ask({ path: '/api/v1/repositories', credential: admin.token })
      assert.deepEqual(listed.json.items, [])
      await grant(service, admin, 'three', 'read')
      assert.equal(await sees('three', admin), true)
    })
  })

  it('every change of groups leaves one line in the security audit, and what changes nothing leaves none', async () => {
    const { length } = await securityAudit(service)
    const group = await newGroup('audited')
    const id = group.slice(groups.length + 1)
    const member = `${group}/members/${person.id}`
    for (let round = 0; round < 2; round++) await done(asAdministrator('PUT', member))
    for (const access of ['read', 'read', 'write'])
      await done(asAdministrator('PUT', `${group}/grants/one`, { access }))
    for (let round = 0; round < 2; round++) await done(asAdministrator('DELETE', `${group}/grants/one`))
    for (let round = 0; round < 2; round++) await done(asAdministrator('DELETE', member))
    await done(asAdministrator('DELETE', group))
    await asAdministrator('DELETE', group)
    await asAdministrator('POST', groups, { name: 'svc-owners' })
    const rows = (await securityAudit(service)).slice(length)
    assert.deepEqual(
      rows.map(({ action, subject }) => [action, subject]),
      [
        ['group.create', `group:${id}`],
        ['group.add-member', `group:${id} account:${person.id}`],
        ['group.grant-read', `group:${id} repository:one`],
        ['group.grant-write', `group:${id} repository:one`],
        ['group.remove-grant', `group:${id} repository:one`],
        ['group.remove-member', `group:${id} account:${person.id}`],
        ['group.delete', `group:${id}`],
      ],
    )
    for (const { actor, client_address } of rows)
      assert.deepEqual([actor, client_address], [`account:${owner.id}`, '127.0.0.1'])
    const sequences = (await securityAudit(service)).map(({ sequence }) => sequence)
    assert.deepEqual(
      sequences,
      sequences.map((_, index) => index + 1),
    )
  })
})
