import assert from 'node:assert/strict'
import { Agent, request as httpRequest } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'

forEachEngine((engine) => {
  let service: TestService
  let owner: Person

  before(async () => {
    service = await startService(engine, { settings: { SVC_MAX_OBJECT_BYTES: '100000000' } })
    owner = await createOwner(service)
  })
  after(() => service.stop())

  describe('what is hardly HTTP', () => {
    const problemIn = (answer: string, status: number): void => {
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), answer)
      assert.match(head, /^content-type: application\/problem\+json/im, answer)
      const id = /^x-request-id: (\S+)$/im.exec(head)?.[1]
      assert.ok(id !== undefined, `no X-Request-Id in ${head}`)
      const problem = JSON.parse(body)
      assert.deepEqual([problem.status, problem.requestId], [status, id])
      assert.equal(Buffer.byteLength(body), Number(/^content-length: (\d+)$/im.exec(head)?.[1]))
    }

    it('gets a problem answer, and the connection ends', async () => {
      const requests = {
        garbage: '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n',
        'no version': 'GET /health/live\r\n\r\n',
        'a bad method': 'GÉT /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'a header without a name': 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n',
        'a space before the colon': 'GET /health/live HTTP/1.1\r\nHost : a\r\n\r\n',
        'a bare carriage return': 'GET /health/live HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n',
        'a folded header': 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: y\r\n z\r\n\r\n',
        'two lengths':
          'POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
        'a length and chunks':
          'POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        'a length that is none': 'POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
        'an unknown transfer encoding':
          'POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
        'no host': 'GET /health/live HTTP/1.1\r\n\r\n',
      }
      for (const [what, text] of Object.entries(requests)) {
        const connection = await openConnection(service.url)
        connection.send(Buffer.from(text, 'latin1'))
        const answer = await connection.ended()
        assert.doesNotThrow(() => problemIn(answer, 400), what)
      }
    })

    it('is refused under a name that is not this machine’s, and with what two readers would read differently', async () => {
      const json = '{"name":"one","name":"two","password":"a password of one"}'
      const requests = {
        'a name from elsewhere': 'GET /health/live HTTP/1.1\r\nHost: evil.example\r\n\r\n',
        'a name from elsewhere, for its own pages':
          'GET /health/live HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n',
        'two hosts': 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n',
        'no name': 'GET /health/live HTTP/1.1\r\nHost: a b\r\n\r\n',
        'two credentials':
          'GET /api/v1/auth/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n',
        'a field twice': `POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
        'a parameter behind many empty ones': `GET /api/v1/auth/options?${'&'.repeat(64)}surprise=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      }
      for (const [what, text] of Object.entries(requests)) {
        const connection = await openConnection(service.url)
        connection.send(text)
        assert.match(await connection.ended(), /^HTTP\/1\.1 400 .*"code":"invalid_request"/s, what)
      }
    })

    it('gets a problem answer when its head is longer than 32 KiB', async () => {
      const line = (bytes: number): string => `X-Long: ${'x'.repeat(bytes)}\r\n`
      for (const text of [line(33 * 1024), line(100).repeat(330)]) {
        const connection = await openConnection(service.url)
        connection.send(`GET /health/live HTTP/1.1\r\nHost: localhost\r\n${text}\r\n`)
        const answer = await connection.ended()
        problemIn(answer, 400)
        assert.match(answer, /longer than 32768 bytes/)
      }
      const fits = await service.ask({ path: '/health/live', headers: { 'x-long': 'x'.repeat(30 * 1024) } })
      assert.equal(fits.status, 200)
    })

    it('gets a problem answer for chunks that are none, and nothing is stored', async () => {
      const connection = await openConnection(service.url)
      const head = `PUT ${raw}/chunks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.token}\r\n`
      connection.send(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nnonsense\r\n`)
      const answer = await connection.ended()
      if (answer !== '') problemIn(answer, 400)
      assert.equal((await service.ask({ path: `${raw}/chunks`, credential: owner.token })).status, 404)
    })

    it('never mixes a problem into an answer that is on its way', async () => {
      const size = 30_000_000
      const body = Buffer.alloc(size, 'a')
      const put = await service.ask({ method: 'PUT', path: `${raw}/big`, credential: owner.token, body })
      assert.equal(put.status, 201)
      const connection = await openConnection(service.url)
      connection.send(`GET ${raw}/big HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`)
      // Its head is here and most of its body is not: before that, a problem would be the right answer.
      await connection.until(/^HTTP\/1\.1 200 /)
      connection.socket.pause()
      connection.send('this is no HTTP\r\n\r\n')
      connection.socket.resume()
      const answer = await connection.ended()
      const begin = answer.indexOf('\r\n\r\n') + 4
      assert.match(answer.slice(begin, begin + size), /^a*$/)
      problemIn(answer.slice(begin + size), 400)
    })

    it('may expect what we do not know', async () => {
      const connection = await openConnection(service.url)
      connection.send('GET /health/live HTTP/1.1\r\nHost: localhost\r\nExpect: a-miracle\r\nConnection: close\r\n\r\n')
      assert.match(await connection.ended(), /^HTTP\/1\.1 200 /)
    })

    it('serves requests that come in one packet in their order, and old ones', async () => {
      const connection = await openConnection(service.url)
      const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
      connection.send(get('/health/live') + get('/nowhere') + get('/health/status'))
      const answer = await connection.until(/"ready"/)
      const codes = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      assert.deepEqual(codes, ['200', '404', '200'])
      connection.socket.destroy()
      const old = await openConnection(service.url)
      old.send('GET /health/live HTTP/1.0\r\n\r\n')
      assert.match(await old.ended(), /200 OK[\s\S]*"ok"/)
    })
  })

  describe('a body that nobody wants', () => {
    const upload = (credential: string, more: string): string =>
      `PUT ${raw}/refused HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${credential}\r\n${more}\r\n\r\n`
    const unknown = 'x'.repeat(64)

    it('is never asked for: who expects 100 Continue gets the refusal instead', async () => {
      for (const [text, status] of [
        [upload(unknown, 'Expect: 100-continue\r\nContent-Length: 5000000'), 401],
        [upload(owner.token, 'Expect: 100-continue\r\nContent-Length: 100000001'), 413],
        [upload(owner.token, 'Expect: 100-continue\r\nX-Checksum-Sha256: zz\r\nContent-Length: 5'), 400],
        [upload(unknown, 'Expect: 100-continue\r\nTransfer-Encoding: chunked'), 401],
        [upload(owner.token, 'Expect: 100-continue\r\nContent-Length: 5').replace('releases', 'missing'), 404],
        [upload(owner.token, 'Expect: 100-continue\r\nContent-Length: 5').replace('PUT', 'POST'), 405],
      ] as const) {
        const connection = await openConnection(service.url)
        connection.send(text)
        const answer = await connection.until(/\r\n\r\n\{.*\}/)
        assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
        assert.ok(!answer.includes('100 Continue'))
        assert.match(answer, /^connection: close$/im)
        connection.socket.destroy()
      }
    })

    it('is asked for when it is wanted', async () => {
      const connection = await openConnection(service.url)
      connection.send(upload(owner.token, 'Expect: 100-continue\r\nContent-Length: 5').replace('refused', 'wanted'))
      const first = await connection.until(/\r\n\r\n/)
      assert.equal(first, 'HTTP/1.1 100 Continue\r\n\r\n')
      connection.send('hello')
      assert.match(await connection.until(/"created":true/), /201 Created/)
      connection.socket.destroy()
      const login = await openConnection(service.url)
      const json = JSON.stringify({ name: owner.name, password: owner.password })
      login.send(
        `POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${json.length}\r\n\r\n`,
      )
      await login.until(/100 Continue/)
      login.send(json)
      await login.until(/"token"/)
      login.socket.destroy()
    })

    it('does not keep a sender from seeing the refusal, however much it sends', async () => {
      const agent = new Agent({ keepAlive: false })
      const sendAll = (headers: Record<string, string | number>): Promise<number | undefined> =>
        new Promise((resolve, reject) => {
          const outgoing = httpRequest(new URL(`${raw}/refused`, service.url), { agent, method: 'PUT', headers })
          let status: number | undefined
          outgoing.on('response', (incoming) => {
            status = incoming.statusCode
            incoming.resume().on('end', () => resolve(status))
          })
          // What cannot be sent any more after the answer is no harm.
          outgoing.on('error', (error) => (status === undefined ? reject(error) : resolve(status)))
          outgoing.end(Buffer.alloc(20_000_000))
        })
      for (let round = 0; round < 5; round++) {
        assert.equal(await sendAll({ authorization: `Bearer ${unknown}`, 'content-length': 20_000_000 }), 401)
        assert.equal(await sendAll({ authorization: `Bearer ${unknown}`, 'transfer-encoding': 'chunked' }), 401)
      }
    })

    it('leaves the connection good for the next request when it is small', async () => {
      const connection = await openConnection(service.url)
      connection.send(`${upload(unknown, 'Content-Length: 5')}hello`)
      await connection.until(/credential_invalid/)
      connection.send('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await connection.until(/"ok"/)
      connection.socket.destroy()
    })

    it('stores nothing when the sender goes away in the middle', async () => {
      const connection = await openConnection(service.url)
      connection.send(upload(owner.token, 'Content-Length: 1000000').replace('refused', 'half'))
      connection.send('a'.repeat(1000))
      const uploads = async (): Promise<number> => {
        const { json } = await service.ask({ path: '/health/ready', credential: service.healthKey })
        return json.transfers.uploads.admission.active
      }
      await until('the upload is under way', async () => (await uploads()) === 1)
      connection.socket.destroy()
      await until('the upload is given up', async () => (await uploads()) === 0)
      assert.equal((await service.ask({ path: `${raw}/half`, credential: owner.token })).status, 404)
    })
  })
})
