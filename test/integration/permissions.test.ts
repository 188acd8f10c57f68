import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { changes, type Operation } from '../../src/contract/operation.ts'
import {
  type AdministrationAction,
  administrationActions,
  type RepositoryAction,
  repositoryActions,
} from '../../src/kernel/actions.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { createOwner, createPerson, createRepository } from '../harness/people.ts'
import { isEnough, letThrough, probeOf } from '../harness/probe.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  activeKey,
  binding,
  createServiceAccount,
  freshName,
  issueKey,
  type TestBinding,
} from '../harness/service-keys.ts'

after(closeConnections)

/** What grants carry, spelled once more (design, section 7). */
const readCarries =
  'repository.read artifact.read artifact.list content.read package.read asset.read annotation.read audit.read'
const writeAdds =
  'upload.create upload.read upload.write upload.complete upload.cancel job.read package.publish asset.write asset.restore annotation.write reference.write artifact.promote'
const looking = new Set(`${readCarries} upload.read job.read storage.read diagnostics.read`.split(' '))
const carried = (access: string): string[] => [
  ...readCarries.split(' '),
  ...(access === 'write' ? writeAdds.split(' ') : []),
]

/** A key of the file names each permission: its write reads nothing. */
const carriedInFile = (access: string): string[] => (access === 'write' ? writeAdds : readCarries).split(' ')

const live = ['alpha', 'beta', 'gamma', 'releases']
/** `ghost` never exists. */
const repositories = [...live, 'ghost']

/** Actions per repository that a credential should have. */
type Held = Map<string, Set<string>>
interface Subject {
  readonly what: string
  readonly credential: string
  readonly held: Held
  readonly readsOnly: boolean
  readonly delegations: {
    target: string
    targetKey: string
    actions: readonly AdministrationAction[]
    ceiling: readonly TestBinding[]
  }[]
}

const access = fc.constantFrom('read' as const, 'write' as const)
const grants = fc.array(fc.record({ repository: fc.constantFrom(...live), access }), { maxLength: 4 })
const groups = fc.array(fc.record({ member: fc.boolean(), grants }), { maxLength: 3 })
const actionsOf = fc.subarray([...repositoryActions], { minLength: 1 })
const bindingList = fc.array(
  fc
    .record({ repository: fc.constantFrom(...repositories), actions: actionsOf })
    .map((b) => binding(b.repository, ...b.actions)),
  { maxLength: 5 },
)
const world = fc.record({
  groups,
  policy: bindingList,
  /** Which of the policy's bindings the key gets. */
  keep: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
  nextPolicy: fc.option(bindingList),
  delegated: fc.subarray([...administrationActions]),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

const permissionsOf = (bindings: readonly TestBinding[]): Held => {
  const held: Held = new Map()
  for (const { resource, actions } of bindings)
    held.set(resource.id, new Set([...(held.get(resource.id) ?? []), ...actions]))
  return held
}

const ofRepositories = catalogue().filter(({ access }) => access.kind === 'repository')
const delegable = catalogue().flatMap((operation) =>
  operation.access.kind === 'administration' ? [{ operation, rule: operation.access }] : [],
)

forEachEngine((engine) => {
  let service: TestService
  const fileKeys: { secret: string; held: Held }[] = []
  before(async () => {
    service = await startService(engine)
    // The first account of a server gets more than was asked for.
    await createOwner(service)
    for (const id of ['alpha', 'beta', 'gamma']) await createRepository(service, id)
    const wishes = fc.sample(
      fc.uniqueArray(fc.record({ repository: fc.constantFrom(...repositories), access }), {
        selector: ({ repository }) => repository,
        maxLength: 5,
      }),
      { numRuns: 4, seed: 11 },
    )
    const secrets = await addFileKeys(
      service,
      wishes.map((wish, i) => ({
        id: `key-${i}`,
        repositories: wish.map((each) => ({ repository: each.repository, permissions: [each.access] })),
      })),
    )
    for (const [i, wish] of wishes.entries())
      fileKeys.push({
        secret: secrets[`key-${i}`] ?? '',
        held: new Map(wish.map((each) => [each.repository, new Set(carriedInFile(each.access))])),
      })
  })
  after(() => service.stop())

  const post = async (path: string, credential: string, json: object) =>
    (await expectAnswer(service, { path, credential, json }, 201)).json

  const person = async ({ groups }: World): Promise<Subject[]> => {
    const { id, token } = await createPerson(service, freshName('person'))
    const credential = service.recoveryKey
    const held: Held = new Map()
    const made: string[] = []
    for (const group of groups) {
      const path = `/api/v1/access-groups/${(await post('/api/v1/access-groups', credential, { name: freshName('group') })).id}`
      made.push(path)
      if (group.member) await expectAnswer(service, { method: 'PUT', path: `${path}/members/${id}`, credential }, 204)
      const last = new Map(group.grants.map((grant) => [grant.repository, grant.access]))
      for (const { repository, access } of group.grants)
        await expectAnswer(
          service,
          { method: 'PUT', path: `${path}/grants/${repository}`, credential, json: { access } },
          204,
        )
      if (!group.member) continue
      for (const [repository, access] of last)
        held.set(repository, new Set([...(held.get(repository) ?? []), ...carried(access)]))
    }
    const tokens = '/api/v1/auth/tokens'
    const reading = await post(tokens, token, { name: 'r', scope: 'read' })
    const writing = await post(tokens, token, { name: 'w' })
    const seen = new Map([...held].map(([repository, actions]) => [repository, actions.intersection(looking)]))
    const of = (what: string, secret: string, mine: Held, readsOnly: boolean): Subject => ({
      what,
      credential: secret,
      held: mine,
      readsOnly,
      delegations: [],
    })
    cleanUp.push(...made)
    return [
      of('session', token, held, false),
      of('read-write token', writing.token, held, false),
      of('read token', reading.token, seen, true),
    ]
  }
  /** Groups are limited to a hundred on a server. */
  const cleanUp: string[] = []

  const robot = async ({ policy, keep, nextPolicy, delegated }: World): Promise<Subject> => {
    const account = await createServiceAccount(service, policy)
    const bindings = policy.filter((_, i) => keep[i])
    const { id, secret } = await activeKey(service, account.id, { bindings })
    const credential = service.recoveryKey
    if (nextPolicy !== null) {
      const path = `/api/v1/service-accounts/${account.id}/policy`
      const json = { expectedRevision: 1, bindings: nextPolicy }
      await expectAnswer(service, { method: 'PUT', path, credential, json }, 200)
    }
    const held: Held = new Map()
    const outer = permissionsOf(nextPolicy ?? policy)
    for (const [repository, actions] of permissionsOf(bindings)) {
      const both = actions.intersection(outer.get(repository) ?? new Set())
      if (both.size > 0) held.set(repository, both)
    }
    const delegations: Subject['delegations'] = []
    if (delegated.length > 0) {
      const target = (await createServiceAccount(service, [])).id
      const targetKey = (await issueKey(service, target, { bindings: [] })).id
      const path = `/api/v1/api-keys/${id}/delegations/${target}`
      const json = { actions: delegated, ceiling: policy }
      await expectAnswer(service, { method: 'PUT', path, credential, json }, 200)
      delegations.push({ target, targetKey, actions: delegated, ceiling: policy })
    }
    return { what: 'service key', credential: secret, held, readsOnly: false, delegations }
  }

  const get = async (subject: Subject, path: string, status = 200) =>
    (await expectAnswer(service, { path, credential: subject.credential }, status)).json
  const passes = async (subject: Subject, operation: Operation, parameters: Record<string, string>) => {
    const request = { ...probeOf(operation, parameters), credential: subject.credential }
    return letThrough(request, await service.ask(request))
  }

  const check = async (subject: Subject): Promise<void> => {
    const held = new Map([...subject.held].filter(([repository]) => live.includes(repository)).sort())
    const inOrder = (actions: ReadonlySet<string>): RepositoryAction[] =>
      repositoryActions.filter((a) => actions.has(a))

    const permissions = await get(subject, '/api/v1/auth/permissions')
    assert.deepEqual(
      permissions.repositories,
      [...held].map(([repository, actions]) => ({ repository, actions: inOrder(actions) })),
      subject.what,
    )
    assert.deepEqual(
      permissions.administration,
      subject.delegations.map(({ target, actions, ceiling }) => ({ accountId: target, actions, ceiling })),
    )
    assert.deepEqual(permissions.system, [])

    const me = await get(subject, '/api/v1/auth/me')
    assert.deepEqual(
      me.grants,
      [...held].map(([repository, actions]) => ({
        repository,
        permissions: actions.isSubsetOf(looking)
          ? ['read']
          : subject.what === 'file key' && !actions.has('repository.read')
            ? ['write']
            : ['read', 'write'],
      })),
    )

    const visible = [...held].filter(([, actions]) => actions.has('repository.read'))
    const card = ([id, actions]: [string, Set<string>]) => ({
      id,
      formats: ['upack', 'assets'],
      permissions: inOrder(actions),
      filled: actions.has('artifact.list') ? { publishedBytes: '0', lastChangeAt: null } : null,
      counts: [],
    })
    assert.deepEqual((await get(subject, '/api/v1/repositories')).items, visible.map(card))

    for (const repository of repositories) {
      const mine = held.get(repository) ?? new Set()
      const sees = mine.has('repository.read')
      const told = await get(subject, `/api/v1/repositories/${repository}`, sees ? 200 : 404)
      if (sees) assert.deepEqual(told, { ...card([repository, mine]), inUse: [] })

      const open = new Set<string>()
      for (const operation of ofRepositories) {
        const may = await passes(subject, operation, { repository })
        const should = isEnough(operation, mine) && (!subject.readsOnly || !changes(operation))
        assert.equal(may, should, `${subject.what}: ${operation.id} in ${repository} with ${inOrder(mine).join()}`)
        if (may) open.add(operation.id)
      }
      const listing = `/api/v1/operations?repository=${repository}&limit=100`
      let page = await get(subject, listing, sees ? 200 : 404)
      if (!sees) continue
      const listed = new Set<string>()
      for (;;) {
        for (const { operationId } of page.items) listed.add(operationId)
        if (page.next === null) break
        page = await get(subject, `${listing}&after=${page.next}`)
      }
      assert.deepEqual(
        ofRepositories.map(({ id }) => id).filter((id) => listed.has(id)),
        ofRepositories.map(({ id }) => id).filter((id) => open.has(id)),
        `${subject.what}: the operations of ${repository}`,
      )
      for (const operation of catalogue()) {
        const { access } = operation
        if (access.kind === 'repository') continue
        if (access.kind === 'administration') {
          // Whether it lets through depends on the service account, which is asked below.
          const may = subject.delegations.some(({ actions }) => actions.includes(access.action))
          assert.equal(listed.has(operation.id), may, `${subject.what}: ${operation.id} is listed`)
          continue
        }
        // Which jobs there are is their askers' business; the list tells what may be done with those.
        if (access.kind === 'own-job') {
          assert.equal(listed.has(operation.id), mine.has(access.action), operation.id)
          continue
        }
        assert.equal(listed.has(operation.id), await passes(subject, operation, { repository }), operation.id)
      }
    }

    for (const { target, targetKey, actions } of subject.delegations)
      for (const { operation, rule } of delegable) {
        const id = rule.of === 'service-key' ? targetKey : target
        assert.equal(await passes(subject, operation, { id }), actions.includes(rule.action), operation.id)
      }
  }

  it('says of people, their tokens and service keys exactly what they may do', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (drawn) => {
        for (const subject of [...(await person(drawn)), await robot(drawn)]) await check(subject)
        for (const path of cleanUp.splice(0))
          await expectAnswer(service, { method: 'DELETE', path, credential: service.recoveryKey }, 204)
      }),
      walks(5, 4711),
    )
  })

  it('says of file keys exactly what they may do', async () => {
    assert.ok(fileKeys.some(({ held }) => held.size > 1))
    for (const { secret, held } of fileKeys)
      await check({ what: 'file key', credential: secret, held, readsOnly: false, delegations: [] })
  })
})
