import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { METHODS } from 'node:http'
import { Readable } from 'node:stream'
import { after, it } from 'node:test'
import { failureCodes } from '../../src/contract/openapi.ts'
import { needsNothing, reads } from '../../src/contract/operation.ts'
import { actionsOf, type RepositoryAction } from '../../src/kernel/actions.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { reasonOf } from '../harness/expect.ts'
import { isOfOthers } from '../harness/wires.ts'
import { looksAt, worstInputs } from '../harness/worst-input.ts'
import {
  bare,
  everyOperation,
  hiddenByIt,
  jsonOperations,
  operations,
  pathOf,
  pointersOf,
  present,
  presentQueries,
  samples,
} from './every-operation.ts'

/** Every operation, asked in ways that it does not take. */
after(closeConnections)

forEachEngine((engine) => {
  const site = everyOperation(engine)
  const { withHeaders, allowed, refused } = site

  it('gives HEAD the headers of GET and no body', async () => {
    const queries: Record<string, string> = {
      getAsset: 'path=folder/file.bin',
      getAssetContent: 'path=folder/file.bin',
      resolvePackage: 'name=thing',
      getPackageContent: 'name=thing',
      listAssetHistory: 'path=folder/file.bin',
      getAssetRevision: 'path=folder/file.bin&revision=1',
      explainAccess: 'caller=owner&repository=releases&action=asset.read',
      listWhoMay: 'repository=releases',
      listImageTags: 'image=some/image',
      listRemovedTags: 'image=some/image',
      listTagMoves: 'image=some/image&tag=latest',
      getImageManifest: 'image=some/image&reference=latest',
      listImageReferrers: `image=some/image&digest=${samples['digest']}`,
      listImagePromotions: 'image=some/image&reference=latest',
      listNpmPromotions: 'package=some-package&version=1.0.0',
      explainImage: 'image=some/image&reference=latest',
      explainNpmVersion: 'package=some-package&version=1.0.0',
      getLfsUpload: 'size=6',
      listNpmVersions: 'package=some-package',
      listDeletedNpmVersions: 'package=some-package',
      getNpmVersion: 'package=some-package&version=1.0.0',
      listCachedNpmVersions: 'package=@outside/kept',
    }
    for (const operation of operations.filter(reads)) {
      const query = queries[operation.id] ?? presentQueries[operation.id]
      const path = pathOf(operation, 'releases', present[operation.id]) + (query === undefined ? '' : `?${query}`)
      const credential = allowed(operation)
      const head = await site.service.ask({ method: 'HEAD', path, credential })
      const got = await site.service.ask({ path, credential })
      assert.ok(got.status in operation.responses && got.status < 300, `${operation.id}: ${got.text}`)
      const comparable = (told: Told): unknown => {
        // How a body is framed is told only where there is one.
        const { date: _, 'x-request-id': __, 'transfer-encoding': ___, ...kept } = told.headers
        // Counters went on between the two.
        if (operation.id === 'getMetrics') delete kept['content-length']
        return { status: told.status, headers: kept }
      }
      assert.deepEqual(comparable(head), comparable(got), operation.id)
      const unknown = await site.service.ask({ method: 'HEAD', path: path.replace('releases', 'missing'), credential })
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
        const told = await site.service.ask({ method, path: pathOf(one), credential: site.owner.token })
        assert.equal(told.status, 405, `${method} ${path}: ${told.text}`)
        assert.deepEqual(new Set(told.headers.allow?.split(', ')), allow, `${method} ${path}`)
        if (method !== 'HEAD') assert.equal(reasonOf(told), 'method_not_allowed')
      }
    }
  })

  it('answers 404 to a path that no operation has, whatever the method', async () => {
    for (const method of METHODS.filter((name) => !['CONNECT', 'HEAD'].includes(name)))
      for (const path of ['/api', '/api/v1', '/api/v1/nothing', '/health/live/', '/consoles', '//health/live'])
        refused(
          await site.service.ask({ method, path, credential: site.owner.token }),
          404,
          'not_found',
          `${method} ${path}`,
        )
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
        refused(await site.service.ask(request), 415, 'unsupported_media_type', `${operation.id} ${type}`)
      }
  })

  it('answers 415 to a body that says nothing of its media type', async () => {
    for (const operation of jsonOperations)
      refused(
        await site.service.ask({ ...bare(operation, allowed(operation)), body: '{}' }),
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
      refused(await site.service.ask({ ...request, body }), 413, 'body_too_large', operation.id)
      const chunks = Readable.from([body.subarray(0, 1000), body.subarray(1000)])
      refused(await site.service.ask({ ...request, body: chunks }), 413, 'body_too_large', `${operation.id} in chunks`)
    }
  })

  it('refuses the longest and worst bodies, and is healthy meanwhile', async () => {
    for (const operation of jsonOperations) {
      assert.ok(operation.body.kind === 'json')
      const { schema, maxBytes } = operation.body
      const costs = worstInputs(schema).map((worst) => ({ worst, looks: looksAt(schema, worst.of(maxBytes / 256)) }))
      const worst = costs.toSorted((one, other) => other.looks - one.looks).slice(0, 3)
      const told = worst.map(({ worst: { of } }) =>
        site.service.ask({ ...withHeaders(operation), json: of(maxBytes - 1_000) }),
      )
      const health = worst.map(() => site.service.ask({ path: '/health/status' }))
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
        const told = await site.service.ask({
          ...withHeaders(operation),
          headers: { ...withHeaders(operation).headers, ...headers },
          body,
        })
        refused(told, 400, 'invalid_request', `${operation.id}: ${what}`)
        if (what === 'an unknown field') assert.ok(pointersOf(told).includes('/surprise'), told.text)
      }
  })

  it('answers 400 to unknown and repeated query parameters, naming them', async () => {
    // Protocols of others pass over what they do not know.
    for (const operation of operations.filter(({ query }) => Reflect.get(query, 'additionalProperties') === false)) {
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
        const told = await site.service.ask({ ...request, path: `${request.path}?${query}` })
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
        const told = await site.service.ask({ ...asked, path: encodeURI(asked.path).replaceAll('%25', '%') })
        assert.ok(told.status < 500, `${operation.id}: ${what}: ${told.text}`)
      }
      for (const text of odd) {
        for (const name of Object.keys(operation.query.properties))
          await answered({ ...request, path: `${request.path}?${name}=${text}` }, `${name}=${text}`)
        for (const name of Object.keys(operation.pathParameters.properties)) {
          const path = operation.path.replaceAll(/\{([a-zA-Z]+)[*+]?\}/g, (_, each: string) =>
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
      refused(await site.service.ask({ path, credential: site.owner.token }), 400, 'invalid_request', path)
  })

  it('answers 400 to ids that are none', async () => {
    // Service accounts and jobs are looked for before the input is looked at: what is no id is none that the caller may
    // see.
    const withId = operations.filter(
      (operation) =>
        operation.pathParameters.properties['id'] !== undefined &&
        !hiddenByIt(operation) &&
        // There any text is an upload that nobody knows.
        !isOfOthers(operation),
    )
    assert.ok(withId.length > 0)
    for (const operation of withId)
      for (const id of ['1', 'x'.repeat(36), '%00', '00000000-0000-0000-0000-00000000000G']) {
        const told = await site.service.ask({
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
          : operation.headers.properties['idempotency-key'] === undefined
            ? {}
            : { 'idempotency-key': 'odd' }
      const path =
        pathOf(operation, 'releases', {}) + (operation.id === 'completeBlob' ? `?digest=${samples['digest']}` : '')
      const told = await site.service.ask({ ...bare(operation, allowed(operation)), path, headers })
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
