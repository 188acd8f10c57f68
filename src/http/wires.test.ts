import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Type from 'typebox'
import { bareHttpParts, knownSecret } from '../../test/harness/bare-http.ts'
import { bearerOrBasicCredential } from '../contract/credential.ts'
import { defineOperation } from '../contract/define.ts'
import { handle } from '../contract/handler.ts'
import { fields } from '../contract/schemas.ts'
import type { Wire } from '../contract/wire.ts'
import type { RequestFacts } from './replies/facts.ts'
import { createHttpServer, type HttpServer } from './server.ts'

/** A protocol of others: it signs in by Basic, and tells of failures in a form of its own. */
const wire: Wire = {
  name: 'other',
  prefix: '/other',
  credentialOf: bearerOrBasicCredential,
  render: ({ code, status, headers }, { requestId, baseUrl }) => ({
    status,
    headers: {
      ...headers,
      'content-type': 'text/plain',
      ...(status === 401 ? { 'www-authenticate': `Basic realm="${baseUrl}/other"` } : {}),
    },
    text: `${code.toUpperCase()} ${requestId}`,
  }),
}

const at = (path: string, id: string) =>
  defineOperation({
    id,
    method: 'GET',
    path,
    summary: 'Get a thing',
    surface: 'catalog',
    visibility: 'authenticated',
    access: { kind: 'credential' },
    retry: 'read',
    pathParameters: fields({ name: Type.String() }),
    responses: { 200: { description: 'The name', schema: null, mediaType: 'text/plain' } },
  })

describe('a wire', () => {
  let server: HttpServer
  let url: string
  const facts: RequestFacts[] = []
  before(async () => {
    const operations = [
      at('/other/things/{name}', 'getOther'),
      at('/other/deep/{name+}/end', 'getDeep'),
      at('/api/things/{name}', 'getOurs'),
    ].map((operation) => handle(operation, async ({ path }) => ({ status: 200, text: path.name, headers: {} })))
    const requestOver = (each: RequestFacts): void => void facts.push(each)
    server = await createHttpServer(bareHttpParts({ operations, wires: [wire], requestOver }))
    url = await server.listen('127.0.0.1', 0)
  })
  after(() => server.close())

  const ask = async (path: string, options: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, options)
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      headers: response.headers,
      text: await response.text(),
    }
  }
  const basic = { headers: { authorization: `Basic ${Buffer.from(`any:${knownSecret}`).toString('base64')}` } }

  it('takes the credentials that its clients have, which elsewhere are none', async () => {
    const mine = await ask('/other/things/a', basic)
    assert.deepEqual([mine.status, mine.text], [200, 'a'])
    assert.equal((await ask('/api/things/a', basic)).status, 401)
    const bearer = { headers: { authorization: `Bearer ${knownSecret}` } }
    for (const path of ['/other/things/a', '/api/things/a']) assert.equal((await ask(path, bearer)).status, 200)
  })

  it('tells of every failure in its own words, with its own challenge', async () => {
    const stranger = await ask('/other/things/a')
    assert.deepEqual([stranger.status, stranger.type], [401, 'text/plain'])
    assert.equal(stranger.headers.get('www-authenticate'), 'Basic realm="https://files.example.com/other"')
    assert.equal(stranger.text, `CREDENTIAL_MISSING ${stranger.headers.get('x-request-id')}`)
    const missing = await ask('/other/nothing', basic)
    assert.deepEqual([missing.status, missing.text.split(' ')[0]], [404, 'NOT_FOUND'])
    const method = await ask('/other/things/a', { ...basic, method: 'DELETE' })
    assert.deepEqual([method.status, method.text.split(' ')[0]], [405, 'METHOD_NOT_ALLOWED'])
    assert.match(method.headers.get('allow') ?? '', /GET/)
    const encoding = await ask('/other/things/%ff', basic)
    assert.deepEqual([encoding.status, encoding.type], [400, 'text/plain'])
  })

  it('has wildcards in the middle of its paths', async () => {
    for (const [path, name] of [
      ['/other/deep/a/end', 'a'],
      ['/other/deep/a/b%20c/end?', 'a/b c'],
      ['/other/deep/a%2fb/end/end', 'a/b/end'],
      ['/other/deep/things/%25/end', 'things/%'],
    ] as const) {
      const told = await ask(path, basic)
      assert.deepEqual([told.status, told.text], [200, name], path)
      const head = await ask(path, { ...basic, method: 'HEAD' })
      assert.deepEqual([head.status, head.text, head.headers.get('content-length')], [200, '', String(name.length)])
    }
    assert.equal((await ask('/other/deep/a/b/end')).status, 401)
    for (const method of ['PUT', 'PROPFIND']) {
      const refused = await ask('/other/deep/a/b/end', { ...basic, method })
      assert.deepEqual([refused.status, refused.text.split(' ')[0]], [405, 'METHOD_NOT_ALLOWED'], method)
      assert.equal(refused.headers.get('allow'), 'GET, HEAD', method)
    }
    for (const path of ['/other/deep/end', '/other/deep/a/b/ends', '/api/deep/a/b/end'])
      assert.equal((await ask(path, basic)).status, 404, path)
    assert.equal((await ask('/other/deep/a/%ff/end', basic)).status, 400)
  })

  it('is the same however the unreserved characters of a path are written', async () => {
    for (const [path, name] of [
      ['/%6fther/things/a', 'a'],
      ['/%6F%74her/th%69ngs/%61%2D%2e%5f%7E', 'a-._~'],
      ['/oth%65r/d%65ep/a/b%2Fc/%65nd?', 'a/b/c'],
      ['/%6fther/things/a%2541', 'a%41'],
    ] as const) {
      const told = await ask(path, basic)
      assert.deepEqual([told.status, told.text], [200, name], path)
      const head = await ask(path, { ...basic, method: 'HEAD' })
      assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(name.length)], path)
      const stranger = await ask(path)
      assert.deepEqual([stranger.status, stranger.type], [401, 'text/plain'], path)
      for (const method of ['PUT', 'PROPFIND']) {
        const refused = await ask(path, { ...basic, method })
        assert.deepEqual([refused.status, refused.type], [405, 'text/plain'], path)
        assert.equal(refused.headers.get('allow'), 'GET, HEAD', path)
      }
    }
    assert.deepEqual(
      [(await ask('/%6fther/nothing')).status, (await ask('/%6fther/nothing')).type],
      [404, 'text/plain'],
    )
    assert.equal((await ask('/%61pi/things/a', basic)).type, 'application/problem+json; charset=utf-8')
    assert.equal((await ask('/%61pi/things/a', basic)).status, 401)
    const last = facts.at(-1)
    assert.deepEqual([last?.path, last?.operation?.id], ['/api/things/a', 'getOurs'])
  })

  it('takes no broken encoding for one that nobody sent', async () => {
    for (const path of ['/%%36fther/things/a', '/%6%66ther/things/a', '/other/things/%%361', '/other/things/%4%31'])
      assert.equal((await ask(path, basic)).status, 400, path)
    assert.equal((await ask('/%6fther/things/%ff', basic)).type, 'text/plain')
    // Reserved ones are no other way to write a slash of the path.
    assert.equal((await ask('/other%2Fthings/a', basic)).type, 'application/problem+json; charset=utf-8')
  })

  it('has no paths that could be written in two ways', async () => {
    for (const path of ['/other/thing!/{name}', '/other/é/{name}', '/other/th%69ng/{name}']) {
      const operations = [handle(at(path, 'odd'), async () => ({ status: 200, text: '', headers: {} }))]
      await assert.rejects(createHttpServer(bareHttpParts({ operations, wires: [wire] })), /clients may encode/)
    }
  })

  it('has what is below its prefix, and nothing beside it', async () => {
    for (const path of ['/others', '/api/nothing', '/'])
      assert.equal((await ask(path)).type, 'application/problem+json; charset=utf-8', path)
    assert.match((await ask('/api/things/a')).headers.get('www-authenticate') ?? '', /^Bearer /)
  })
})
