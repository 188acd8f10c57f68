import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { METHODS } from 'node:http'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { failureCodes } from '../../src/contract/openapi.ts'
import { needsNothing, type Operation, reads, requiredActions } from '../../src/contract/operation.ts'
import { compileOperation } from '../../src/http/pipeline/pipeline.ts'
import { actionsOf, type RepositoryAction } from '../../src/kernel/actions.ts'
import { failures } from '../../src/kernel/failure.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { digestOf } from '../harness/backstage.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { looksAt, worstInputs } from '../harness/worst-input.ts'
import { upack } from '../harness/zip.ts'
import { anonymous, endpointsOfOurs, specifiedEndpoints } from './endpoints.ts'
import { endpointsToCome } from './endpoints-to-come.ts'
import { statusOfCode } from './reason-codes.ts'

describe('the schemas of every operation', () => {
  it('compile, although a service compiles them when they are first needed', () => {
    for (const operation of catalogue()) assert.ok(compileOperation(operation), operation.id)
  })
})

/** Anyone may call these. May only shrink, or grow with a reason in the declaration that a reader accepts. */
const open = ['getLiveness', 'getHealthStatus', 'login', 'register', 'getAuthOptions']

/** Any valid credential may call these, so that none gets 403. */
const forAnyCredential = [
  'getReadiness',
  'getMetrics',
  'getCapabilities',
  'getOpenApi',
  'listOperations',
  'logout',
  'getMe',
  'listRepositories',
  'getPermissions',
  'listServiceAccounts',
]

/** Whoever is signed in may call these for themselves; keys get 403. */
const forEverySession = ['changePassword', 'listTokens', 'createToken', 'revokeToken']

/** Whoever sees a repository may call these: a grant of read carries every action that they need, so 403 cannot happen. */
const forEveryReader = [
  'getRepository',
  'listArtifacts',
  'searchArtifacts',
  'getArtifact',
  'getArtifactContent',
  'getAnnotations',
  'createLink',
  'listAssets',
  'listAssetPage',
  'getAsset',
  'listAssetHistory',
  'getAssetRevision',
  'getAssetContent',
  'getRaw',
  'getAttachments',
  'listAttachmentHistory',
  'listArtifactStages',
  'listStages',
  'listArtifactPromotions',
  'listPromotions',
  'promoteArtifact',
  'listPackages',
  'resolvePackage',
  'getPackageContent',
  'listAudit',
  'listCatalogChanges',
  'explainArtifact',
]

const operations = catalogue()
const jsonOperations = operations.filter((operation) => operation.body.kind === 'json')
const readActions: ReadonlySet<string> = actionsOf('read')
const idsOf = (found: readonly Operation[]): string[] => found.map(({ id }) => id).sort()

const samples: Readonly<Record<string, string>> = { assetPath: 'folder/file.bin', stage: 'tested', index: '0' }

/** Ids of things that are there, by operation and name of the path parameter. */
const present: Record<string, Record<string, string>> = {}

const pathOf = (
  operation: Operation,
  repository = 'releases',
  others: Readonly<Record<string, string>> = present[operation.id] ?? {},
): string =>
  operation.path.replaceAll(/\{([a-zA-Z]+)\*?\}/g, (_, name: string) =>
    name === 'repository' ? repository : (others[name] ?? samples[name] ?? randomUUID()),
  )

/** A request that reaches the checks of who may: whatever else is wrong with it comes after them. */
const bare = (operation: Operation, credential: string | null, repository?: string): Ask => ({
  method: operation.method,
  path: pathOf(operation, repository),
  credential,
})

/** What no grant carries, for a key. */
const forKeysAlone = [
  {
    resource: { kind: 'repository', id: 'releases' },
    actions: ['artifact.delete', 'storage.read', 'storage.manage', 'diagnostics.read'],
  },
]

/** What is looked for before anything else is: a service account, or a job. */
const hiddenByIt = ({ access }: Operation): boolean => access.kind === 'administration' || access.kind === 'own-job'

/** All of an answer that does not change from one request to the next: request ids do, and now and then get longer. */
const essence = ({ status, headers, text }: Told): unknown => {
  const { date: _, 'x-request-id': id, 'content-length': bytes, ...kept } = headers
  // Request ids are counted, and grow by a character now and then.
  const withoutId = Number(bytes) - (text === '' ? 0 : String(id).length)
  return { status, headers: { ...kept, withoutId }, text: text.replace(String(id), '<request id>') }
}

const pointersOf = (told: Told): string[] =>
  (told.json.details ?? []).map(({ pointer }: { pointer: string }) => pointer)

describe('the catalogue and the specification', () => {
  const declared = new Set(operations.map(({ method, path }) => anonymous(`${method} ${path}`)))
  const rows = [...specifiedEndpoints, ...endpointsOfOurs]

  it('declares every row of the endpoint tables, apart from those to come', () => {
    const missing = rows.filter((row) => !declared.has(anonymous(row)) && !endpointsToCome.includes(row))
    assert.deepEqual(missing, [])
  })

  it('leaves nothing on the list of what is to come that is there, or that nobody asked for', () => {
    assert.deepEqual(
      endpointsToCome.filter((row) => declared.has(anonymous(row))),
      [],
    )
    assert.deepEqual(
      endpointsToCome.filter((row) => !rows.includes(row)),
      [],
    )
    assert.equal(new Set(endpointsToCome).size, endpointsToCome.length)
  })

  it('declares nothing that no row speaks of', () => {
    const known = new Set(rows.map(anonymous))
    assert.deepEqual(
      [...declared].filter((row) => !known.has(row)),
      [],
    )
  })

  it('has each id once, and each method of a path once', () => {
    assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length)
    assert.equal(declared.size, operations.length)
  })

  it('answers with reason codes of the status that the documents give them', () => {
    for (const [code, [status]] of Object.entries(failures)) assert.equal(status, statusOfCode[code], code)
  })

  it('lists exactly the exceptions that there are', () => {
    const ofKind = (kind: string) => operations.filter(({ access }) => access.kind === kind)
    assert.deepEqual(idsOf(ofKind('anyone')), [...open].sort())
    const any = [...ofKind('credential'), ...ofKind('visible')]
    assert.deepEqual(idsOf(any), [...forAnyCredential].sort())
    assert.deepEqual(idsOf(ofKind('session')), [...forEverySession].sort())
    const readable = ofKind('repository').filter(({ access }) =>
      requiredActions(access).every((action) => readActions.has(action)),
    )
    assert.deepEqual(idsOf(readable), [...forEveryReader].sort())
  })

  it('asks for an action wherever a path names a repository', () => {
    const bound = operations.filter(({ path }) => path.startsWith('/api/v1/repositories/{repository}'))
    for (const { id, access } of bound)
      assert.ok(access.kind === 'repository' || (access.kind === 'administrator' && id === 'deleteRepository'), id)
  })
})

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let reader: Person
  let stranger: Person
  /** Secret of an active key of a service account. */
  let serviceKey: string
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    reader = await createPerson(service, 'reader')
    stranger = await createPerson(service, 'stranger')
    const groupId = await grant(service, reader, 'releases', 'read')
    await createRepository(service, 'hidden')
    const credential = owner.token
    const path = '/api/v1/repositories/releases/raw/folder/file.bin'
    const put = await service.ask({ method: 'PUT', path, credential, body: 'some bytes' })
    assert.equal(put.status, 201, put.text)
    const upload = await service.ask({
      path: '/api/v1/repositories/releases/uploads',
      credential,
      headers: { 'idempotency-key': 'one' },
      json: { name: 'file.bin', size: '3', sha256: '0'.repeat(64) },
    })
    assert.equal(upload.status, 201, upload.text)
    const empty = await service.ask({
      path: '/api/v1/repositories/releases/uploads',
      credential,
      headers: { 'idempotency-key': 'empty' },
      json: { name: 'empty.bin', size: '0', sha256: digestOf('') },
    })
    const job = await service.ask({
      method: 'POST',
      path: `${empty.headers.location}/complete-async`,
      credential,
    })
    assert.equal(job.status, 202, job.text)
    const thing = await publish(
      service,
      credential,
      'releases',
      newFile('thing.upack', upack({ name: 'thing', version: '1.0.0' })),
    )
    const registration = `/api/v1/repositories/releases/artifacts/${thing}/package`
    const registered = await service.ask({ method: 'POST', path: registration, credential })
    assert.equal(registered.status, 200, registered.text)
    const recovery = { credential: service.recoveryKey, headers: { 'idempotency-key': 'one' } }
    const account = await service.ask({
      ...recovery,
      path: '/api/v1/service-accounts',
      json: { name: 'robot', bindings: forKeysAlone },
    })
    assert.equal(account.status, 201, account.text)
    const key = await service.ask({
      ...recovery,
      path: `/api/v1/service-accounts/${account.json.id}/keys`,
      json: { name: 'robot-key', bindings: forKeysAlone },
    })
    assert.equal(key.status, 201, key.text)
    serviceKey = key.json.secret
    const activated = await service.ask({ method: 'POST', path: '/api/v1/auth/activate-key', credential: serviceKey })
    assert.equal(activated.status, 204, activated.text)
    for (const { id, path } of operations) {
      const kinds: [RegExp, string][] = [
        [/^.api.v1.service-accounts/, account.json.id],
        [/^.api.v1.api-keys/, key.json.id],
        [/^.api.v1.users/, reader.id],
        [/^.api.v1.access-groups/, groupId],
        [/uploads/, upload.json.id],
        [/^.api.v1.jobs/, job.json.id],
      ]
      const one = kinds.find(([kind]) => kind.test(path))?.[1] ?? put.json.artifact.id
      present[id] = { id: one, userId: reader.id, accountId: account.json.id }
    }
  })
  after(() => service.stop())
  after(closeConnections)

  /** The same with the headers that the operation cannot do without. */
  const withHeaders = (operation: Operation): Ask => ({
    ...bare(operation, allowed(operation)),
    headers: operation.headers.properties['idempotency-key'] === undefined ? {} : { 'idempotency-key': 'any' },
  })

  /** A credential that is allowed to call the operation, on `releases` where it names a repository. */
  const allowed = (operation: Operation): string | null => {
    const { kind } = operation.access
    if (kind === 'anyone') return null
    if (kind === 'own-key') return serviceKey
    if (kind === 'service-administrator' || kind === 'administration') return service.recoveryKey
    const { access } = operation
    const carried: ReadonlySet<string> = actionsOf('write')
    const beyond = access.kind === 'repository' && access.actions.some((action) => !carried.has(action))
    return beyond ? serviceKey : owner.token
  }

  const refused = (told: Told, status: number, code: string, what: string): void => {
    assert.equal(told.status, status, `${what}: ${told.text}`)
    assert.equal(told.json.code, code, `${what}: ${told.text}`)
  }

  it('answers 401 without a credential, before anything else is looked at', async () => {
    for (const operation of operations.filter(({ id }) => !open.includes(id)))
      for (const repository of ['releases', 'hidden', 'missing'])
        refused(
          await service.ask(bare(operation, null, repository)),
          401,
          'credential_missing',
          `${operation.id} ${repository}`,
        )
  })

  it('answers 401 to a wrong credential and to one of wrong length', async () => {
    const wrong = {
      hexadecimal: randomBytes(32).toString('hex'),
      session: `dps_${randomBytes(32).toString('base64url')}`,
      'almost right': `${owner.token.slice(0, -1)}${owner.token.endsWith('A') ? 'B' : 'A'}`,
      'too short': 'a'.repeat(31),
      'too long': 'a'.repeat(513),
      longest: 'a'.repeat(512),
    }
    for (const operation of operations.filter(({ id }) => !open.includes(id)))
      for (const [what, credential] of Object.entries(wrong))
        refused(
          await service.ask(bare(operation, credential)),
          401,
          'credential_invalid',
          `${operation.id}: a ${what} credential`,
        )
  })

  it('answers 401 to another scheme than Bearer, and reads its name without regard to case', async () => {
    for (const authorization of [`Basic ${btoa(`x:${owner.token}`)}`, owner.token, 'Bearer', `Bearer ${owner.token} x`])
      refused(
        await service.ask({ path: '/api/v1/auth/me', headers: { authorization } }),
        401,
        'credential_invalid',
        authorization,
      )
    const lower = await service.ask({ path: '/api/v1/auth/me', headers: { authorization: `bearer ${owner.token}` } })
    assert.equal(lower.status, 200)
  })

  it('takes no credential from the query or a cookie', async () => {
    const path = `/api/v1/auth/me?access_token=${owner.token}`
    refused(await service.ask({ path }), 401, 'credential_missing', 'query')
    const headers = { cookie: `session=${owner.token}; authorization=Bearer ${owner.token}` }
    refused(await service.ask({ path: '/api/v1/auth/me', headers }), 401, 'credential_missing', 'cookie')
  })

  it('looks at no credential where anyone may call', async () => {
    const told = await service.ask({ path: '/health/live', credential: 'nonsense' })
    assert.equal(told.status, 200)
  })

  it('answers 403 to a valid credential without the action', async () => {
    const exceptions = [...open, ...forAnyCredential, ...forEveryReader]
    for (const operation of operations.filter(({ id }) => !exceptions.includes(id))) {
      const credential = forEverySession.includes(operation.id) ? service.healthKey : reader.token
      const told = await service.ask(bare(operation, credential))
      // A service account is the business of few; to all others none exists.
      // So are the jobs of others.
      if (hiddenByIt(operation)) refused(told, 404, 'not_found', operation.id)
      else refused(told, 403, 'permission_missing', operation.id)
    }
  })

  it('answers to who may not see a repository exactly as if it did not exist', async () => {
    const callers = {
      stranger: stranger.token,
      'health key': service.healthKey,
      reader: reader.token,
      owner: owner.token,
    }
    for (const operation of operations.filter(({ access }) => access.kind === 'repository'))
      for (const [who, credential] of Object.entries(callers)) {
        const what = `${operation.id} by ${who}`
        const unseen = await service.ask(bare(operation, credential, 'hidden'))
        refused(unseen, 404, 'not_found', what)
        for (const missing of ['missing', 'NO-REPOSITORY', '%00', '%F0%9F%98%80', 'x'.repeat(2000)])
          assert.deepEqual(
            essence(await service.ask(bare(operation, credential, missing))),
            essence(unseen),
            `${what}, ${missing}`,
          )
      }
  })

  it('gives HEAD the headers of GET and no body', async () => {
    const queries: Record<string, string> = {
      getAsset: 'path=folder/file.bin',
      getAssetContent: 'path=folder/file.bin',
      resolvePackage: 'name=thing',
      getPackageContent: 'name=thing',
      listAssetHistory: 'path=folder/file.bin',
      getAssetRevision: 'path=folder/file.bin&revision=1',
    }
    for (const operation of operations.filter(reads)) {
      const query = queries[operation.id]
      const path = pathOf(operation, 'releases', present[operation.id]) + (query === undefined ? '' : `?${query}`)
      const credential = allowed(operation)
      const head = await service.ask({ method: 'HEAD', path, credential })
      const got = await service.ask({ path, credential })
      assert.equal(got.status, 200, `${operation.id}: ${got.text}`)
      const comparable = (told: Told): unknown => {
        // How a body is framed is told only where there is one.
        const { date: _, 'x-request-id': __, 'transfer-encoding': ___, ...kept } = told.headers
        // Counters went on between the two.
        if (operation.id === 'getMetrics') delete kept['content-length']
        return { status: told.status, headers: kept }
      }
      assert.deepEqual(comparable(head), comparable(got), operation.id)
      const unknown = await service.ask({ method: 'HEAD', path: path.replace('releases', 'missing'), credential })
      if (operation.access.kind === 'repository') assert.equal(unknown.status, 404, operation.id)
    }
  })

  it('answers 405 with Allow to every other method of a path', async () => {
    const byPath = Map.groupBy(operations, ({ path }) => path)
    for (const [path, here] of byPath) {
      const allow = new Set<string>(here.flatMap((each) => (reads(each) ? ['GET', 'HEAD'] : [each.method])))
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
        if (allow.has(method)) continue
        const [one] = here
        assert.ok(one !== undefined)
        const told = await service.ask({ method, path: pathOf(one), credential: owner.token })
        assert.equal(told.status, 405, `${method} ${path}: ${told.text}`)
        assert.deepEqual(new Set(told.headers.allow?.split(', ')), allow, `${method} ${path}`)
        if (method !== 'HEAD') assert.equal(told.json.code, 'method_not_allowed')
      }
    }
  })

  it('answers 404 to a path that no operation has, whatever the method', async () => {
    for (const method of METHODS.filter((name) => !['CONNECT', 'HEAD'].includes(name)))
      for (const path of ['/', '/api/v1', '/api/v1/nothing', '/health/live/', '/console', '//health/live'])
        refused(await service.ask({ method, path, credential: owner.token }), 404, 'not_found', `${method} ${path}`)
  })

  it('answers 415 to a JSON operation that gets another media type', async () => {
    for (const operation of jsonOperations)
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonp',
        'multipart/form-data',
      ]) {
        const request = { ...bare(operation, allowed(operation)), body: '{}', headers: { 'content-type': type } }
        refused(await service.ask(request), 415, 'unsupported_media_type', `${operation.id} ${type}`)
      }
  })

  it('answers 415 to a body that says nothing of its media type', async () => {
    for (const operation of jsonOperations)
      refused(
        await service.ask({ ...bare(operation, allowed(operation)), body: '{}' }),
        415,
        'unsupported_media_type',
        operation.id,
      )
  })

  it('answers 413 to a JSON body beyond the limit, declared or in chunks', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const operation of jsonOperations) {
      assert.ok(operation.body.kind === 'json')
      const body = Buffer.alloc(operation.body.maxBytes + 1, ' ')
      const request = { ...bare(operation, allowed(operation)), headers }
      refused(await service.ask({ ...request, body }), 413, 'body_too_large', operation.id)
      const chunks = Readable.from([body.subarray(0, 1000), body.subarray(1000)])
      refused(await service.ask({ ...request, body: chunks }), 413, 'body_too_large', `${operation.id} in chunks`)
    }
  })

  it('refuses the longest and worst bodies, and is healthy meanwhile', async () => {
    for (const operation of jsonOperations) {
      assert.ok(operation.body.kind === 'json')
      const { schema, maxBytes } = operation.body
      const costs = worstInputs(schema).map((worst) => ({ worst, looks: looksAt(schema, worst.of(maxBytes / 256)) }))
      const worst = costs.toSorted((one, other) => other.looks - one.looks).slice(0, 3)
      const told = worst.map(({ worst: { of } }) =>
        service.ask({ ...withHeaders(operation), json: of(maxBytes - 1_000) }),
      )
      const health = worst.map(() => service.ask({ path: '/health/status' }))
      for (const { status } of await Promise.all(health)) assert.equal(status, 200, operation.id)
      for (const { status, text } of await Promise.all(told)) assert.equal(Math.floor(status / 100), 4, text)
    }
  })

  it('answers 400 to what is not one JSON value in UTF-8, or reaches for prototypes', async () => {
    const bodies: Record<string, string | Uint8Array> = {
      nothing: '',
      'cut off': '{"name":',
      'two values': '{}{}',
      'a comment': '{} // hello',
      NaN: '{"name":NaN}',
      'not UTF-8': Buffer.from([0x22, 0xff, 0xfe, 0x22]),
      'half a character': Buffer.from([0x7b, 0x22, 0xc3]),
      'UTF-16': Buffer.from('{}', 'utf16le'),
      __proto__: '{"__proto__": {"administrator": true}}',
      'escaped __proto__': '{"\\u005f_proto__": {}}',
      'constructor.prototype': '{"constructor": {"prototype": {"administrator": true}}}',
      null: 'null',
      'a list': '[]',
      'a text': '"name"',
      'a number': '7',
      'an unknown field': '{"surprise": 1}',
    }
    for (const operation of jsonOperations)
      for (const [what, body] of Object.entries(bodies)) {
        if (what === 'nothing' && needsNothing(operation)) continue
        const headers = { 'content-type': 'application/json; charset=utf-8' }
        const told = await service.ask({
          ...withHeaders(operation),
          headers: { ...withHeaders(operation).headers, ...headers },
          body,
        })
        refused(told, 400, 'invalid_request', `${operation.id}: ${what}`)
        if (what === 'an unknown field') assert.ok(pointersOf(told).includes('/surprise'), told.text)
      }
  })

  it('answers 400 to unknown and repeated query parameters, naming them', async () => {
    for (const operation of operations) {
      const request = bare(operation, allowed(operation))
      for (const [query, pointer] of [
        ['surprise=1', '/query/surprise'],
        ['surprise', '/query/surprise'],
        ['__proto__=1', '/query/__proto__'],
        ['constructor=1', '/query/constructor'],
        ['a=1&a=2', '/query/a'],
        ['limit=1&limit=1', '/query/limit'],
        ['path=a&path=b', '/query/path'],
        ['a%2Fb=1', '/query/a~1b'],
        ['a=%FF', '/query'],
      ]) {
        const what = `${operation.id}?${query}`
        const told = await service.ask({ ...request, path: `${request.path}?${query}` })
        refused(told, 400, 'invalid_request', what)
        assert.ok(pointersOf(told).includes(String(pointer)), `${what}: ${told.text}`)
      }
    }
  })

  it('is never at a loss for an answer to odd text in a path, query or header', async () => {
    const odd = [
      '%00',
      'a%00b',
      '%ED%A0%80',
      '%F4%8F%BF%BF',
      '..',
      '%2e%2e%2f',
      "'; drop table accounts; --",
      '-1',
      '1e9',
      '%',
      '9'.repeat(16),
      '9'.repeat(400),
    ]
    for (const operation of operations) {
      const request = withHeaders(operation)
      const answered = async (asked: Ask, what: string): Promise<void> => {
        const told = await service.ask({ ...asked, path: encodeURI(asked.path).replaceAll('%25', '%') })
        assert.ok(told.status < 500, `${operation.id}: ${what}: ${told.text}`)
      }
      for (const text of odd) {
        for (const name of Object.keys(operation.query.properties))
          await answered({ ...request, path: `${request.path}?${name}=${text}` }, `${name}=${text}`)
        for (const name of Object.keys(operation.pathParameters.properties)) {
          const path = operation.path.replaceAll(/\{([a-zA-Z]+)\*?\}/g, (_, each: string) =>
            each === name ? text : each === 'repository' ? 'releases' : (samples[each] ?? randomUUID()),
          )
          await answered({ ...request, path }, `${name} is ${text}`)
        }
      }
      for (const name of Object.keys(operation.headers.properties))
        for (const text of ['', ' ', ',', '\u00e9', 'x'.repeat(5000), '*', 'bytes=0-', '"', '\t'])
          await answered({ ...request, headers: { ...request.headers, [name]: text } }, `${name}: ${text}`)
    }
  })

  it('answers 400 to a path that is not percent-encoded UTF-8', async () => {
    for (const path of [
      '/api/v1/repositories/%FF',
      '/api/v1/repositories/%',
      '/%C3',
      '/api/v1/repositories/releases/raw/%E0%A4',
    ])
      refused(await service.ask({ path, credential: owner.token }), 400, 'invalid_request', path)
  })

  it('answers 400 to ids that are none', async () => {
    // Service accounts and jobs are looked for before the input is looked at: what is no id is none that the caller may see.
    const withId = operations.filter(
      (operation) => operation.pathParameters.properties['id'] !== undefined && !hiddenByIt(operation),
    )
    assert.ok(withId.length > 0)
    for (const operation of withId)
      for (const id of ['1', 'x'.repeat(36), '%00', '00000000-0000-0000-0000-00000000000G']) {
        const told = await service.ask({
          ...bare(operation, allowed(operation)),
          path: pathOf(operation, 'releases', { id }),
          ...(operation.body.kind === 'json' ? { json: {} } : {}),
        })
        refused(told, 400, 'invalid_request', `${operation.id} ${id}`)
        assert.ok(pointersOf(told).includes('/path/id'), told.text)
      }
  })

  it('answers 404 to ids of what does not exist', async () => {
    const withId = operations.filter(
      ({ pathParameters, body }) => pathParameters.properties['id'] !== undefined && body.kind !== 'json',
    )
    for (const operation of withId) {
      const headers: Record<string, string> =
        operation.body.kind === 'stream'
          ? { 'content-type': 'application/octet-stream', 'x-content-sha256': '0'.repeat(64) }
          : {}
      const path = pathOf(operation, 'releases', {})
      const told = await service.ask({ ...bare(operation, allowed(operation)), path, headers })
      refused(told, 404, 'not_found', operation.id)
    }
  })

  it('tells of each operation only what it may answer', () => {
    for (const operation of operations) {
      const codes = failureCodes(operation)
      const secured = operation.access.kind !== 'anyone'
      assert.equal(codes.includes('credential_missing'), secured, operation.id)
      if (operation.access.kind === 'repository') assert.ok(codes.includes('not_found'), operation.id)
    }
    const all: RepositoryAction[] = [...actionsOf('write')]
    for (const never of ['artifact.delete', 'storage.read', 'storage.manage', 'diagnostics.read'] as const)
      assert.ok(!all.includes(never), never)
  })
})
