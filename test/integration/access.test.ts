import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type RepositoryAction, repositoryActions } from '../../src/kernel/actions.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { createOwner, createPerson, createRepository, grant, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, issueKey, revocation } from '../harness/service-keys.ts'

after(closeConnections)

type Json = Told['json']

/** What somebody may do is explained by the decision that lets requests in: so both are asked, and must agree. */
forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let ann: Person
  let ben: Person
  const secrets: Record<string, string> = {}
  const ids: Record<string, string> = {}
  const asked = (path: string, credential = service.recoveryKey): Promise<Told> =>
    service.ask({ path: `/api/v1/access/${path}`, credential })
  const read = async (path: string): Promise<Json> => {
    const told = await asked(path)
    assert.equal(told.status, 200, told.text)
    return told.json
  }
  const explain = (caller: string, action: string, repository: string | null = 'builds'): Promise<Json> =>
    read(`explain?caller=${caller}&action=${action}${repository === null ? '' : `&repository=${repository}`}`)
  const short = ({ kind, name, access }: Json): string => [kind, name, ...(access === null ? [] : [access])].join(' ')

  before(async () => {
    service = await startService(engine)
    const keys = await addFileKeys(service, [
      { id: 'mirror', repositories: [{ repository: 'builds', permissions: ['read'] }] },
      { id: 'ann', repositories: [{ repository: 'builds', permissions: ['write'] }] },
    ])
    Object.assign(secrets, keys)
    owner = await createOwner(service)
    ann = await createPerson(service, 'Ann')
    ben = await createPerson(service, 'ben')
    for (const id of ['builds', 'attic']) await createRepository(service, id)
    await grant(service, ann, 'builds', 'write')
    await grant(service, ann, 'builds', 'read')
    await grant(service, ben, 'builds', 'read')
    const policy = [binding('builds', 'artifact.read', 'artifact.delete', 'storage.read')]
    const robot = await createServiceAccount(service, policy, 'robot')
    ids['robot'] = robot.id
    const wide = await activeKey(service, robot.id, {
      bindings: [binding('builds', 'artifact.read', 'artifact.delete')],
      name: 'wide',
    })
    secrets['wide'] = wide.secret
    const gone = await activeKey(service, robot.id, { bindings: policy, name: 'gone' })
    await service.ask(revocation(gone.id, service.recoveryKey))
    await issueKey(service, robot.id, { bindings: policy, name: 'pending' })
    ids['idle'] = (await createServiceAccount(service, policy, 'idle')).id
  })
  after(() => service.stop())

  describe('explain', () => {
    it('says through which group, and through which not', async () => {
      const told = await explain('ann', 'content.read', 'builds').catch(() => null)
      assert.equal(told, null, 'a key of the file is called so as well')
      const both = await explain('account:ann', 'content.read')
      assert.deepEqual(
        [both.allowed, both.reason, both.caller],
        [true, null, { kind: 'account', id: ann.id, name: 'Ann' }],
      )
      assert.deepEqual(both.through.map(short), ['group Ann-builds-read read', 'group Ann-builds-write write'])
      const writing = await explain(ann.id, 'asset.write')
      assert.deepEqual(writing.through.map(short), ['group Ann-builds-write write'])
      assert.equal(writing.message, 'Allowed through the group Ann-builds-write.')
    })

    it('says what is missing', async () => {
      const missing = async (...args: Parameters<typeof explain>): Promise<string> => {
        const { allowed, reason, message, through } = await explain(...args)
        assert.deepEqual([allowed, through], [false, []])
        assert.match(message, /^[A-Z].+\.$/)
        return reason
      }
      assert.equal(await missing('ben', 'asset.write'), 'grant_too_small')
      assert.equal(await missing('ben', 'asset.read', 'attic'), 'no_grant')
      assert.equal(await missing('owner', 'asset.read'), 'no_grant', 'an administrator needs a group, too')
      assert.equal(await missing('account:ann', 'artifact.delete'), 'service_keys_only')
      assert.equal(await missing('ben', 'asset.read', 'nowhere'), 'repository_missing')
      assert.equal(await missing('mirror', 'asset.write'), 'grant_too_small')
      assert.equal(await missing('mirror', 'asset.read', 'attic'), 'no_entry')
      assert.equal(await missing('robot', 'asset.write'), 'not_in_policy')
      assert.equal(await missing('robot', 'storage.read'), 'not_in_key')
      assert.equal(await missing('idle', 'artifact.read'), 'no_active_key')
      assert.equal(await missing('ben', 'backup.read', null), 'not_administrator')
      const change = (enabled: boolean) =>
        service.ask({ method: 'PATCH', path: `/api/v1/users/${ben.id}`, credential: owner.token, json: { enabled } })
      await change(false)
      assert.equal(await missing('ben', 'asset.read'), 'account_disabled')
      await change(true)
      ben = { ...ben, token: await signIn(service, 'ben') }
      assert.equal((await explain('ben', 'asset.read')).allowed, true)
    })

    it('names policy and key of a service account, the entry of a file key, and the role', async () => {
      const robot = await explain('ROBOT', 'artifact.delete')
      assert.deepEqual(robot.through.map(short), ['policy robot', 'key wide'])
      assert.deepEqual((await explain(String(ids['robot']), 'artifact.read')).through, [...robot.through])
      assert.deepEqual((await explain('key:ann', 'asset.write')).through.map(short), ['keys-file ann write'])
      assert.deepEqual((await explain('owner', 'backup.read', null)).through.map(short), ['role administrator'])
    })

    it('agrees with what happens, for everybody and every action of a repository', async () => {
      const callers = {
        'account:ann': ann.token,
        ben: ben.token,
        owner: owner.token,
        mirror: String(secrets['mirror']),
        'key:ann': String(secrets['ann']),
        robot: String(secrets['wide']),
        'bootstrap-owner': service.recoveryKey,
      }
      for (const [caller, credential] of Object.entries(callers))
        for (const repository of ['builds', 'attic', 'releases']) {
          const { json } = await service.ask({ path: '/api/v1/auth/permissions', credential })
          const held: string[] = json.repositories.find((each: Json) => each.repository === repository)?.actions ?? []
          for (const action of repositoryActions) {
            const { allowed, through } = await explain(caller, action, repository)
            assert.equal(allowed, held.includes(action), `${caller} ${action} ${repository}`)
            assert.equal(through.length > 0, allowed)
          }
        }
    })

    it('takes an id for whose it is, whatever others are called', async () => {
      await createPerson(service, ben.id)
      for (const caller of [ben.id, `account:${ben.id}`, `account:${ben.id.toUpperCase()}`])
        assert.deepEqual((await explain(caller, 'asset.read')).caller.id, ben.id, caller)
      await createServiceAccount(service, [], ann.id)
      assert.equal((await explain(ann.id, 'asset.read')).caller.name, 'Ann')
      assert.equal((await explain(`service-account:${ann.id}`, 'asset.read')).caller.kind, 'service-account')
    })

    it('tells two keys of one name apart', async () => {
      const policy = [binding('attic', 'artifact.read')]
      const { id } = await createServiceAccount(service, policy, 'twins')
      const keys = [
        await activeKey(service, id, { bindings: policy, name: 'bot' }),
        await activeKey(service, id, { bindings: policy, name: 'bot' }),
      ].map((key) => key.id)
      const { message, through } = await explain('twins', 'artifact.read', 'attic')
      const inOrder = through.slice(1).map((each: Json) => each.id)
      assert.deepEqual(inOrder.toSorted(), keys.toSorted())
      assert.equal(
        message,
        `Allowed through the policy of twins, the key bot (${inOrder[0]}), the key bot (${inOrder[1]}).`,
      )
      await service.ask({
        method: 'PATCH',
        path: `/api/v1/service-accounts/${id}`,
        credential: service.recoveryKey,
        json: { expectedRevision: 1, enabled: false },
      })
    })

    it('names service accounts to administrators, who know of them from the security audit and administer none', async () => {
      const query = 'explain?caller=robot&action=artifact.delete&repository=builds'
      assert.equal((await asked(query, owner.token)).json.caller.name, 'robot')
      const audit = await service.ask({ path: '/api/v1/security-audit', credential: owner.token })
      assert.ok(audit.json.items.some(({ subject }: Json) => subject.includes(`service-account:${ids['robot']}`)))
      const list = await service.ask({ path: '/api/v1/service-accounts', credential: owner.token })
      assert.deepEqual(list.json.items, [])
    })

    it('refuses what is unclear, and those who are no administrators', async () => {
      const unclear = await asked('explain?caller=ann&action=asset.read&repository=builds')
      assert.equal(unclear.status, 400)
      assert.match(unclear.json.detail, /account:Ann or key:ann/)
      assert.equal((await asked('explain?caller=nobody&action=asset.read&repository=builds')).status, 404)
      assert.equal((await asked('explain?caller=ben&action=asset.read')).status, 400)
      assert.equal((await asked('explain?caller=ben&action=backup.read&repository=builds')).status, 400)
      for (const path of [
        'explain?caller=ben&action=asset.read&repository=builds',
        'who?repository=builds',
        'repositories',
      ])
        assert.equal((await asked(path, ben.token)).status, 403, path)
    })
  })

  describe('who', () => {
    const who = async (query: string): Promise<Json[]> => (await read(`who?repository=${query}`)).items
    const names = (items: Json[]): string[] => items.map(({ who: { kind, name } }) => `${kind} ${name}`)

    it('lists everybody who may do something, with all of it and what gives it', async () => {
      const items = await who('builds')
      assert.deepEqual(names(items), ['account Ann', 'account ben', 'service-account robot', 'key ann', 'key mirror'])
      assert.deepEqual(items[2].actions, ['artifact.read', 'artifact.delete'])
      assert.deepEqual(items[2].through.map(short), ['policy robot', 'key wide'])
      assert.deepEqual(items[1].through.map(short), ['group ben-builds-read read'])
    })

    it('answers who may write, delete or read', async () => {
      const may = async (action: RepositoryAction, repository = 'builds') =>
        names(await who(`${repository}&action=${action}`))
      assert.deepEqual(await may('asset.write'), ['account Ann', 'key ann'])
      assert.deepEqual(await may('artifact.delete'), ['service-account robot'])
      assert.deepEqual(await may('content.read'), ['account Ann', 'account ben', 'key mirror'])
      assert.deepEqual(await may('asset.write', 'releases'), ['account owner', 'key bootstrap-owner'])
      assert.deepEqual(await may('asset.read', 'attic'), [])
      assert.equal((await asked('who?repository=nowhere')).status, 404)
      for (const after of ['desc.x', 'ann', 'account:x', 'group:x'])
        assert.equal((await asked(`who?repository=builds&after=${after}`)).status, 400, after)
    })

    it('comes in pages that follow each other', async () => {
      const all = await who('builds')
      const paged: Json[] = []
      for (let after = ''; ; ) {
        const page = await read(`who?repository=builds&limit=2${after === '' ? '' : `&after=${after}`}`)
        assert.ok(page.items.length <= 2)
        paged.push(...page.items)
        if (page.next === null) break
        after = page.next
      }
      assert.deepEqual(paged, all)
    })
  })

  it('lists every repository for administrators, by id alone, whether they see it or not', async () => {
    const { items, next } = await read('repositories?limit=2')
    assert.deepEqual(
      items.flatMap((each: Json) => Object.keys(each)),
      ['id', 'createdAt', 'id', 'createdAt'],
    )
    assert.deepEqual(
      items.map(({ id }: Json) => id),
      ['attic', 'builds'],
    )
    assert.equal(next, 'builds')
    assert.deepEqual(
      (await read('repositories?after=builds')).items.map(({ id }: Json) => id),
      ['releases'],
    )
    const hidden = await service.ask({ path: '/api/v1/repositories/attic', credential: owner.token })
    assert.equal(hidden.status, 404, 'and sees no more of them than before')
  })

  it('shows names beside ids in the security audit, in the history of a service account and in groups', async () => {
    const { json } = await service.ask({ path: '/api/v1/security-audit', credential: owner.token })
    const lines: Json[] = json.items
    const joined = lines.find(({ action, subject }) => action === 'group.add-member' && subject.includes(ann.id))
    assert.equal(joined?.actorName, 'bootstrap-owner')
    assert.deepEqual(
      joined?.subjects.map(({ kind, name }: Json) => [kind, name]),
      [
        ['group', 'Ann-builds-write'],
        ['account', 'Ann'],
      ],
    )
    assert.deepEqual(joined?.subjects.map(({ kind, id }: Json) => `${kind}:${id}`).join(' '), joined?.subject)
    const history = await service.ask({
      path: `/api/v1/service-accounts/${ids['robot']}/audit`,
      credential: service.recoveryKey,
    })
    const activated = history.json.items.find(({ action }: Json) => action === 'key.activate')
    assert.equal(activated.actorName, 'robot')
    assert.deepEqual(
      activated.subjects.map(({ name }: Json) => name),
      ['robot', 'wide'],
    )
    const groups = await service.ask({ path: '/api/v1/access-groups', credential: owner.token })
    const group = groups.json.items.find(({ name }: Json) => name === 'ben-builds-read')
    assert.deepEqual([group.members, group.accounts], [[ben.id], [{ id: ben.id, name: 'ben' }]])
  })

  it('keeps the last name of a group that was removed in the lines that tell of it', async () => {
    const groups = '/api/v1/access-groups'
    const ask = (method: string, path: string, json?: object) =>
      service.ask({ method, path, credential: owner.token, ...(json === undefined ? {} : { json }) })
    const { id } = (await ask('POST', groups, { name: 'short-lived' })).json
    await ask('PUT', `${groups}/${id}/members/${ann.id}`)
    await ask('PUT', `${groups}/${id}/grants/attic`, { access: 'read' })
    await ask('DELETE', `${groups}/${id}`)
    const { json } = await service.ask({ path: '/api/v1/security-audit', credential: owner.token })
    const lines: Json[] = json.items.filter(({ subject }: Json) => subject.includes(id))
    assert.deepEqual(
      lines.map(({ action, subjects }) => [action, ...subjects.map(({ name }: Json) => name)]),
      [
        ['group.create', 'short-lived'],
        ['group.add-member', 'short-lived', 'Ann'],
        ['group.grant-read', 'short-lived', 'attic'],
        ['group.delete', 'short-lived'],
      ],
    )
  })
})
