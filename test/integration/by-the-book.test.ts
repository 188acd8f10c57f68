import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, before, it } from 'node:test'
import { needsNothing } from '../../src/contract/operation.ts'
import { day } from '../../src/kernel/units.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { everyChange } from '../harness/every-change.ts'
import { expectAnswer } from '../harness/expect.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'

after(closeConnections)

const page = 'https://pages.example'
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const shouted = (text: string): string => text.replaceAll(uuid, (id) => id.toUpperCase())

/** The same with its ids in upper case, wherever they stand. */
const inUpperCase = (asked: Ask): Ask => ({
  ...asked,
  path: shouted(asked.path),
  ...(asked.json === undefined ? {} : { json: JSON.parse(shouted(JSON.stringify(asked.json))) }),
})

const essence = ({ status, headers, text }: Told): unknown => {
  const { date: _, 'x-request-id': __, 'svc-queue-ticket': ___, ...kept } = headers
  return { status, kept, text }
}

/** Operations that answer every call with something else, or the time. */
const neverTwiceAlike = ['explainArtifact']

forEachEngine((engine) => {
  let rich: RichCatalog
  before(async () => {
    rich = await openRichCatalog(engine)
    await rich.catalog.service.restart({ SVC_ALLOW_REGISTRATION: 'true', SVC_CORS_ORIGINS: page })
  })
  after(() => rich.catalog.close())

  const ask = (asked: Ask): Promise<Told> => rich.catalog.service.ask(asked)

  it('ids may come in upper case to every operation that reads, and mean the same', async () => {
    for (const [id, questions] of Object.entries(rich.questions).filter(([id]) => !neverTwiceAlike.includes(id)))
      for (const asked of questions) {
        const other = inUpperCase(asked)
        if (other.path !== asked.path) assert.deepEqual(essence(await ask(other)), essence(await ask(asked)), id)
      }
  })

  it('ids may come in upper case to every operation that changes something', async () => {
    for (const [id, asked] of Object.entries(await everyChange(rich.catalog))) {
      const told = await ask(inUpperCase(asked))
      assert.match(String(told.status), /^20/, `${id} ${told.text}`)
    }
  })

  it('a body of which nothing is needed may be left out', async () => {
    const leavable = catalogue().flatMap((operation) => (needsNothing(operation) ? [operation.id] : []))
    assert.deepEqual(leavable.sort(), ['addStage', 'createLink', 'updateUser'])
    const { catalog } = rich
    const file = `/artifacts/${await catalog.published('without a body')}`
    const link = await catalog.expect({ method: 'POST', path: `${file}/links` }, 201)
    assert.equal((await ask({ path: new URL(link.json.url).pathname + new URL(link.json.url).search })).status, 200)
    const stage = await catalog.expect({ method: 'PUT', path: `${file}/stages/bare` }, 200)
    assert.equal(stage.json.comment, null)
    const same = {
      method: 'PATCH',
      path: `/api/v1/users/${catalog.reader.id}`,
      credential: catalog.service.recoveryKey,
    }
    assert.equal((await expectAnswer(catalog.service, same, 200)).json.enabled, true)
  })

  it('times may come with an offset, and are answered in UTC', async () => {
    const { service, writer } = rich.catalog
    const end = new Date(Math.floor(service.clock.now() / 1000) * 1000 + day)
    const inIndia = new Date(end.getTime() + 5.5 * 3_600_000).toISOString().replace('.000Z', '+05:30')
    for (const expiresAt of [inIndia, end.toISOString().toLowerCase(), inIndia.replace('+05:30', '.000+05:30')]) {
      const made = { path: '/api/v1/auth/tokens', credential: writer.token, json: { name: 'offset', expiresAt } }
      assert.equal((await expectAnswer(service, made, 201)).json.expiresAt, end.toISOString(), expiresAt)
    }
    for (const expiresAt of ['2026-02-30T00:00:00+01:00', '2099-01-01T24:00:00Z', '2099-01-01T00:00:00+24:00']) {
      const made = { path: '/api/v1/auth/tokens', credential: writer.token, json: { name: 'never', expiresAt } }
      await expectAnswer(service, made, 400)
    }
  })

  it('every HEAD of a list in pieces says how long it is', async () => {
    for (const asked of rich.questions['listUploadParts'] ?? []) {
      const [head, whole] = [await ask({ ...asked, method: 'HEAD' }), await ask(asked)]
      assert.equal(Number(head.headers['content-length']), whole.bytes.byteLength)
    }
  })

  it('promoting lists what it needs elsewhere', async () => {
    const listed = await ask({
      path: '/api/v1/operations?surface=catalog&limit=100',
      credential: rich.catalog.writer.token,
    })
    const items: { operationId: string; requiredActions: string[] }[] = listed.json.items
    const found = items.find(({ operationId }) => operationId === 'promoteArtifact')
    assert.deepEqual(found?.requiredActions.sort(), ['artifact.promote', 'artifact.read', 'content.read'])
  })

  it('metrics are of exactly the type of Prometheus, and name routes as documents do', async () => {
    const { service, base, writer } = rich.catalog
    await ask({ path: `${base}/raw/empty`, credential: writer.token })
    const told = await ask({ path: '/health/metrics', credential: service.healthKey })
    assert.equal(told.headers['content-type'], 'text/plain; version=0.0.4')
    assert.match(told.text, /route="\/api\/v1\/repositories\/\{repository\}\/raw\/\{assetPath\}"/)
    assert.doesNotMatch(told.text, /\*/)
  })

  it('a method that nobody knows here is 405 on every path, with those that are known', async () => {
    const { service } = rich.catalog
    const strange = METHODS.filter(
      (method) => !['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'].includes(method),
    )
    const paths = new Map<string, Set<string>>()
    for (const { path, method } of catalogue()) {
      const some = path.replaceAll(/\{[a-zA-Z]+[*+]?\}/g, 'x')
      paths.set(some, (paths.get(some) ?? new Set()).add(method))
    }
    for (const [index, [path, methods]] of [...paths].entries()) {
      const method = strange[index % strange.length] ?? 'LOCK'
      const told = await service.ask({ method, path, credential: service.recoveryKey })
      assert.equal(told.status, 405, `${method} ${path} ${told.text}`)
      const allowed = String(told.headers.allow).split(', ')
      for (const known of methods) assert.ok(allowed.includes(known), `${path} allows ${known}`)
    }
    assert.equal((await service.ask({ method: 'LOCK', path: '/nowhere' })).status, 404)
    const connection = await openConnection(service.url)
    connection.send('FETCH /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
    const answer = await connection.ended()
    assert.match(answer, /^HTTP\/1\.1 405 /)
    assert.match(answer, /^allow: GET, HEAD/im)
  })

  it('a target that is a whole address is for the host in it, whatever the header says', async () => {
    const { service } = rich.catalog
    const told = async (target: string, host: string, method = 'GET') => {
      const connection = await openConnection(service.url)
      connection.send(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      return await connection.ended()
    }
    assert.match(await told('http://localhost/health/live', 'evil.example'), /^HTTP\/1\.1 200 /)
    assert.match(await told('http://LOCALHOST:80/health/live?x=1', 'a'), /^HTTP\/1\.1 400 .*"pointer":"\/query\/x"/s)
    for (const target of ['http://evil.example/health/live', 'HTTP://evil.example?/', 'http://a@localhost/health/live'])
      for (const method of ['GET', 'OPTIONS', 'LOCK']) {
        const answer = await told(target, 'localhost', method)
        assert.match(answer, /^HTTP\/1\.1 400 /, `${method} ${target}`)
        assert.match(answer, /"code":"invalid_request".*(Host|localhost)/, `${method} ${target}`)
      }
    assert.match(await told('http://localhost/health/live', 'localhost', 'LOCK'), /^HTTP\/1\.1 405 /)
  })

  it('a number sign in a target ends no name: it is refused, and nothing is stored under what stands before it', async () => {
    const { service, base, writer } = rich.catalog
    const connection = await openConnection(service.url)
    const head = `PUT ${base}/raw/c#.zip HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${writer.token}\r\n`
    connection.send(`${head}Connection: close\r\nContent-Length: 1\r\n\r\nx`)
    assert.match(await connection.ended(), /^HTTP\/1\.1 400 .*%23/s)
    assert.equal((await ask({ path: `${base}/raw/c`, credential: writer.token })).status, 404)
  })

  it('every header of an operation that says one thing is refused when it stands twice', async () => {
    const { service } = rich.catalog
    const ofLists = [
      'accept',
      'accept-encoding',
      'if-match',
      'if-none-match',
      'content-digest',
      'content-encoding',
      'repr-digest',
      'via',
    ]
    const names = new Set(catalogue().flatMap(({ headers }) => Object.keys(headers.properties)))
    assert.ok(names.size > 10)
    for (const name of [...names, 'Host', 'Authorization'].filter((each) => !ofLists.includes(each))) {
      const connection = await openConnection(service.url)
      connection.send(`GET /health/live HTTP/1.1\r\nHost: a\r\n${`${name}: localhost\r\n`.repeat(2)}\r\n`)
      assert.match(await connection.ended(), /^HTTP\/1\.1 400 .*stands more than once/s, name)
    }
  })

  it('a body comes as it is or in chunks: any other transfer coding is 501, and nothing is stored', async () => {
    const { service, base, writer } = rich.catalog
    const path = `${base}/raw/coded`
    const put = async (coding: string, version = '1.1') => {
      const connection = await openConnection(service.url)
      const head = `PUT ${path} HTTP/${version}\r\nHost: localhost\r\nAuthorization: Bearer ${writer.token}\r\n`
      connection.send(`${head}${coding}Connection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n`)
      return await connection.ended()
    }
    for (const coding of ['gzip, chunked', 'deflate,chunked', 'identity, chunked', 'x, chunked', 'chunked, chunked'])
      for (const lines of [`${coding}\r\n`, coding.replace(/, ?/, '\r\nTransfer-Encoding: ').concat('\r\n')]) {
        const answer = await put(`Transfer-Encoding: ${lines}`)
        assert.match(answer, /^HTTP\/1\.1 (501 .*"code":"not_implemented"|400 .*"code":"invalid_request")/s, lines)
      }
    assert.match(await put('Transfer-Encoding: gzip, chunked\r\n'), /^HTTP\/1\.1 501 /)
    for (const lines of ['Transfer-Encoding: chunked, gzip\r\n', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'])
      assert.match(await put(lines), /^HTTP\/1\.1 400 .*"code":"invalid_request"/s, lines)
    assert.match(await put('Transfer-Encoding: chunked\r\n', '1.0'), /^HTTP\/1\.1 400 .*"code":"invalid_request"/s)
    assert.equal((await ask({ path, credential: writer.token })).status, 404)
    assert.match(await put('Transfer-Encoding: Chunked\r\n'), /^HTTP\/1\.1 201 /)
    assert.equal((await ask({ path, credential: writer.token })).text, 'hello')
  })

  it('every answer varies by origin, and listed origins may read what clients need', async () => {
    const { service, base, writer } = rich.catalog
    const expected = ['accept-ranges', 'allow', 'etag', 'www-authenticate', 'x-svc-package-version', 'x-request-id']
    for (const asked of [
      { path: '/health/live' },
      { path: '/nowhere' },
      { path: `${base}/raw/empty` },
      { path: `${base}/raw/empty`, credential: writer.token },
      { path: `${base}/artifacts`, credential: writer.token },
      { method: 'LOCK', path: base },
    ])
      for (const headers of [{}, { origin: page }, { origin: 'https://others.example' }]) {
        const told = await service.ask({ ...asked, headers })
        assert.match(String(told.headers.vary), /\borigin\b/i, asked.path)
        if (!('origin' in headers) || headers.origin !== page) continue
        const exposed = String(told.headers['access-control-expose-headers']).toLowerCase().split(', ')
        for (const name of expected) assert.ok(exposed.includes(name), name)
      }
  })

  it('a download is saved under the last segment of its name', async () => {
    const { service, base, writer } = rich.catalog
    for (const [name, saved] of [
      ['a/b/last.bin', 'last.bin'],
      ['../../etc/passwd', 'passwd'],
      ['a/..', 'a'],
      ['//', 'download'],
    ] as const) {
      const id = await publish(service, writer.token, 'one', newFile(name, `named ${name}`))
      const told = await ask({ path: `${base}/artifacts/${id}/content`, credential: writer.token })
      assert.match(String(told.headers['content-disposition']), new RegExp(`^attachment; filename="?${saved}"?$`), name)
    }
  })

  it('ranges have any number of digits', async () => {
    const { base, writer } = rich.catalog
    const path = `${base}/raw/by-range`
    await expectAnswer(rich.catalog.service, { method: 'PUT', path, credential: writer.token, body: '0123456789' }, 201)
    const of = async (range: string) => {
      const { status, text } = await ask({ path, credential: writer.token, headers: { range } })
      return [status, status === 416 ? '' : text]
    }
    assert.deepEqual(await of('bytes=0-99999999999999999999'), [206, '0123456789'])
    assert.deepEqual(await of('bytes=99999999999999999999-'), [416, ''])
    assert.deepEqual(await of('bytes=5-1'), [200, '0123456789'])
  })
})
