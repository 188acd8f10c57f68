import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { isOnReaders, listedActions, type Operation, shownPath, surfaces } from '../../src/contract/operation.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

const operations = catalogue().sort((one, other) => (one.id < other.id ? -1 : 1))
const plainPath = (operation: Operation): string => operation.path.replace(/[*+]\}/, '}')
const unsaid = '00000000-0000-7000-8000-000000000000'

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let reader: TestService
  let owner: Person
  /** Sees `releases` and may read it; may write to `workshop`. */
  let person: Person
  let callers: Record<string, string>

  before(async () => {
    service = await startService(engine, { settings: { SVC_MAX_OBJECT_BYTES: '123456789' } })
    reader = await startService(engine, { on: service, roles: { gateway: 'reader', worker: false } })
    owner = await createOwner(service)
    person = await createPerson(service, 'person')
    await createRepository(service, 'workshop')
    await grant(service, person, 'releases', 'read')
    await grant(service, person, 'workshop', 'write')
    const stranger = await createPerson(service, 'stranger')
    callers = {
      owner: owner.token,
      person: person.token,
      stranger: stranger.token,
      'recovery key': service.recoveryKey,
      'health key': service.healthKey,
    }
  })
  after(async () => {
    await reader.stop()
    await service.stop()
  })

  const get = async (path: string, credential = owner.token, on = service) => {
    const told = await on.ask({ path, credential })
    assert.equal(told.status, 200, told.text)
    return told.json
  }

  const listed = async (query: string, credential = owner.token, on = service): Promise<string[]> => {
    const ids: string[] = []
    for (let after = ''; ; ) {
      const page = await get(`/api/v1/operations?limit=7${query}${after}`, credential, on)
      assert.ok(page.items.length <= 7)
      ids.push(...page.items.map(({ operationId }: { operationId: string }) => operationId))
      if (page.next === null) return ids
      assert.equal(page.next, ids.at(-1))
      after = `&after=${page.next}`
    }
  }

  it('tells its capabilities, and the limits as they are set', async () => {
    assert.deepEqual(await get('/api/v1/capabilities'), {
      apiVersions: ['v1'],
      gatewayRole: 'api',
      features: { selfRegistration: false, mirrorFeed: true },
      limits: {
        maxObjectBytes: '123456789',
        partBytes: 8_388_608,
        maxPartBytes: 1_073_741_824,
        maxParts: 10_000,
        maxPageSize: 100,
      },
    })
    assert.equal((await get('/api/v1/capabilities', owner.token, reader)).gatewayRole, 'reader')
  })

  it('describes itself in a valid OpenAPI document', async () => {
    for (const query of ['', ...surfaces.map((surface) => `?surface=${surface}`)]) {
      const document = await get(`/api/v1/openapi.json${query}`)
      const { valid, errors } = await new Validator().validate(document)
      assert.ok(valid, `${query}: ${JSON.stringify(errors)}`)
      assert.equal(document.openapi, '3.0.3')
      assert.match(document.info.version, /^\d+\.\d+\.\d+$/)
    }
  })

  it('describes every declared operation, with its rules', async () => {
    const { paths } = await get('/api/v1/openapi.json')
    const described: string[] = []
    for (const operation of operations) {
      const item = paths[plainPath(operation)]?.[operation.method.toLowerCase()]
      assert.ok(item !== undefined, operation.id)
      described.push(item.operationId)
      assert.equal(item.operationId, operation.id)
      assert.equal(item['x-svc-surface'], operation.surface)
      assert.equal(item['x-svc-visibility'], operation.visibility)
      assert.equal(item['x-svc-access'], operation.access.kind)
      assert.deepEqual(item['x-svc-required-actions'], listedActions(operation))
      assert.equal(item['x-svc-retry'], operation.retry)
      assert.deepEqual(item['x-svc-conditions'], operation.conditions)
      assert.equal(item['x-svc-reader'], isOnReaders(operation))
      const security =
        operation.access.kind === 'anyone' ? [] : operation.linkable ? [{ bearer: [] }, { link: [] }] : undefined
      assert.deepEqual(item.security, security, operation.id)
      assert.equal(item['x-svc-link'], operation.linkable)
      for (const status of Object.keys(operation.responses))
        assert.ok(item.responses[status], `${operation.id} ${status}`)
      assert.equal(item.requestBody !== undefined, operation.body.kind !== 'none', operation.id)
      const named = item.parameters.map(({ in: place, name }: { in: string; name: string }) => `${place} ${name}`)
      for (const name of Object.keys(operation.pathParameters.properties)) assert.ok(named.includes(`path ${name}`))
      for (const name of Object.keys(operation.query.properties)) assert.ok(named.includes(`query ${name}`))
      // A client that is made from the document has one argument for both, were their names the same but for case.
      const twice = Object.keys(operation.query.properties).map((name) => name.toLowerCase())
      // How a credential is sent stands in a place of its own.
      for (const name of Object.keys(operation.headers.properties).filter((each) => each !== 'authorization'))
        assert.equal(named.includes(`header ${name}`), !twice.includes(name.toLowerCase()), name)
    }
    const all = Object.values(paths as Record<string, object>).flatMap((item) => Object.keys(item))
    assert.equal(all.length, described.length)
  })

  it('uses no word in the document that OpenAPI 3.0 does not know', async () => {
    const text = JSON.stringify(await get('/api/v1/openapi.json'))
    for (const word of ['"const":', '"patternProperties":', '"type":"null"', '"type":[', '"~kind"', '"$id"'])
      assert.ok(!text.includes(word), word)
  })

  it('gives every caller the same document', async () => {
    const told = await Promise.all(
      Object.values(callers).map((credential) => service.ask({ path: '/api/v1/openapi.json', credential })),
    )
    assert.equal(new Set(told.map(({ text }) => text)).size, 1)
  })

  it('cuts the document to a surface, and refuses one that it does not know', async () => {
    for (const surface of surfaces) {
      const { paths } = await get(`/api/v1/openapi.json?surface=${surface}`)
      const found = Object.values(paths as Record<string, Record<string, { operationId: string }>>)
        .flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
        .sort()
      assert.deepEqual(
        found,
        operations.filter((operation) => operation.surface === surface).map(({ id }) => id),
      )
    }
    for (const query of ['surface=everything', 'surface=', 'surface=identity&surface=identity', 'Surface=identity']) {
      const told = await service.ask({ path: `/api/v1/openapi.json?${query}`, credential: owner.token })
      assert.equal(told.status, 400, query)
    }
  })

  it('lists every operation with all its fields, in the order of their ids', async () => {
    const page = await get('/api/v1/operations?limit=100')
    const { items, next, ...rest } = page
    const { version } = (await get('/api/v1/openapi.json')).info
    assert.deepEqual(rest, {
      apiVersion: 'v1',
      documentVersion: version,
      gatewayRole: 'api',
      repository: null,
      advisory: true,
    })
    assert.deepEqual(
      items,
      operations.slice(0, 100).map((operation) => ({
        operationId: operation.id,
        method: operation.method.toLowerCase(),
        path: plainPath(operation),
        summary: operation.summary,
        surface: operation.surface,
        visibility: operation.visibility,
        retry: operation.retry,
        requiredActions: listedActions(operation),
        conditions: operation.conditions,
      })),
    )
    assert.equal(next, operations.length > 100 ? operations[99]?.id : null)
  })

  it('pages by operation id: every one once, also after an id that is none', async () => {
    assert.deepEqual(
      await listed(''),
      operations.map(({ id }) => id),
    )
    const fifty = await get('/api/v1/operations')
    assert.equal(fifty.items.length, Math.min(50, operations.length))
    const [first] = (await get('/api/v1/operations?after=getCaz&limit=1')).items
    assert.equal(first.operationId, operations.find(({ id }) => id > 'getCaz')?.id)
    assert.deepEqual((await get('/api/v1/operations?after=zzz')).items, [])
    assert.equal((await get(`/api/v1/operations?limit=1&after=${operations.at(-2)?.id}`)).next, null)
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=1.5',
      'limit=',
      'after=1a',
      'after=',
      'after=a%20b',
      'surface=x',
    ]) {
      const told = await service.ask({ path: `/api/v1/operations?${query}`, credential: owner.token })
      assert.equal(told.status, 400, query)
    }
  })

  it('filters the list by surface', async () => {
    for (const surface of surfaces)
      assert.deepEqual(
        await listed(`&surface=${surface}`),
        operations.filter((operation) => operation.surface === surface).map(({ id }) => id),
      )
  })

  it('answers 404 to a list for a repository that is unknown or foreign', async () => {
    for (const [who, repository] of [
      ['owner', 'missing'],
      ['owner', 'workshop'],
      ['stranger', 'releases'],
      ['recovery key', 'workshop'],
      ['health key', 'releases'],
    ]) {
      const told = await service.ask({
        path: `/api/v1/operations?repository=${repository}`,
        credential: callers[String(who)] ?? null,
      })
      assert.equal(told.status, 404, `${who} ${repository}`)
    }
    const invalid = await service.ask({ path: '/api/v1/operations?repository=A', credential: owner.token })
    assert.equal(invalid.status, 400)
  })

  it('lists for a repository exactly what the caller is let in to', async () => {
    for (const [who, repository] of [
      ['owner', 'releases'],
      ['person', 'releases'],
      ['person', 'workshop'],
      ['recovery key', 'releases'],
    ]) {
      const credential = callers[String(who)] ?? ''
      const open = new Set(await listed(`&repository=${repository}`, credential))
      assert.equal((await get(`/api/v1/operations?repository=${repository}`, credential)).repository, repository)
      // Which service account it is about is known only with the request: the list shows whom it may concern.
      // So it is with jobs.
      const known = operations.filter(({ access }) => access.kind !== 'administration' && access.kind !== 'own-job')
      for (const operation of known) {
        // It would end the session, or delete the repository under test: asked of an invalid one, which is refused
        // later.
        const path = operation.path.replaceAll(/\{([a-zA-Z]+)[*+]?\}/g, (_, name: string) =>
          name === 'repository' ? String(repository) : name === 'assetPath' ? 'never/stored' : unsaid,
        )
        const told = await service.ask({ method: operation.method, path: `${path}?surprise=%FF`, credential })
        const letIn = told.status === 400
        assert.ok(letIn || told.status === 403 || told.status === 404, `${operation.id}: ${told.text}`)
        assert.equal(open.has(operation.id), letIn, `${operation.id} by ${who} in ${repository}: ${told.text}`)
      }
    }
  })

  it('lists and describes nothing that changes on a read gateway', async () => {
    const reading = operations.filter(isOnReaders).map(({ id }) => id)
    assert.deepEqual(await listed('', owner.token, reader), reading)
    const { paths } = await get('/api/v1/openapi.json', owner.token, reader)
    const posted = new Set(operations.filter(({ openOnReaders }) => openOnReaders).map(shownPath))
    for (const [path, item] of Object.entries(paths as Record<string, object>))
      assert.deepEqual(Object.keys(item), [posted.has(path) ? 'post' : 'get'])
    const here = await listed('&repository=workshop', person.token, reader)
    assert.ok(here.length > 0)
    for (const id of here) assert.ok(reading.includes(id), id)
  })
})
