import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { type OutboundAnswer, OutboundFailure, type OutboundHttp, type OutboundTrouble } from './outbound-http.ts'
import { bare, listening, nobodyListens } from './outbound-servers.suite.ts'

export const get = (url: string) => ({ url, method: 'GET', answerMs: 5_000, bodyBytesMax: 1_000_000 }) as const

export const text = async (answer: OutboundAnswer): Promise<string> =>
  Buffer.from(await answer.whole(1_000_000)).toString()

/** That it fails with this trouble, and tells why, and nothing that is secret. */
export const troubles = (work: Promise<unknown>, trouble: OutboundTrouble, why: RegExp): Promise<void> =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof OutboundFailure, String(error))
    assert.equal(
      `${error.trouble}: ${error.why}`.startsWith(`${trouble}: `),
      true,
      `${error.trouble}: ${error.message}`,
    )
    assert.match(error.why, why)
    assert.doesNotMatch(error.message, /secret/)
    return true
  })

const whole = async (request: IncomingMessage): Promise<string> =>
  (await Buffer.concat(await request.toArray())).toString()

/**
 * What every door has to prove. `open` gives one that may ask this machine, has 150 ms of patience with a body whose
 * sender is slower than 1 MB a second, and lets two ask at once.
 */
export const outboundHttpSuite = (title: string, open: () => OutboundHttp): void => {
  describe(`${title} as the door outwards`, () => {
    const test = (does: string, run: (t: TestContext, door: OutboundHttp) => Promise<void>): void => {
      it(does, async (t) => {
        const door = open()
        t.after(() => door[Symbol.asyncDispose]())
        await run(t, door)
      })
    }

    test('sends what it is given and hands on what it gets, whatever the status', async (t, door) => {
      const { url } = await listening(t, async (request, response) => {
        response.writeHead(request.method === 'DELETE' ? 404 : 201, { 'x-answer': request.headers['x-question'] ?? '' })
        response.end(`${request.method} ${request.url} ${await whole(request)}`)
      })
      for (const [method, status] of [
        ['POST', 201],
        ['PUT', 201],
        ['PATCH', 201],
        ['DELETE', 404],
      ] as const) {
        const seen = await door.ask(
          { ...get(`${url}/a?b=c`), method, headers: { 'x-question': 'why' }, body: Buffer.from('body') },
          async (answer) => ({
            status: answer.status,
            answer: answer.headers.get('x-answer'),
            text: await text(answer),
          }),
        )
        assert.deepEqual(seen, { status, answer: 'why', text: `${method} /a?b=c body` })
      }
    })

    test('asks on conditions, and takes the answer that there is nothing new', async (t, door) => {
      const { url } = await listening(t, (request, response) => {
        response.writeHead(request.headers['if-none-match'] === '"one"' ? 304 : 200, { etag: '"one"' }).end()
      })
      const status = (tag: string) =>
        door.ask(
          { ...get(url), headers: { 'if-none-match': tag } },
          async (answer) => `${answer.status} ${answer.headers.get('etag')}`,
        )
      assert.equal(await status('"one"'), '304 "one"')
      assert.equal(await status('"two"'), '200 "one"')
    })

    test('uses a connection again, also after a body that nobody wanted', async (t, door) => {
      const { url, connections } = await listening(t, (_request, response) => void response.end('x'.repeat(1_000)))
      for (let n = 0; n < 5; n += 1) {
        assert.equal(await door.ask(get(url), async ({ status }) => status), 200)
        assert.equal((await door.ask(get(url), text)).length, 1_000)
      }
      assert.ok(connections() <= 2, String(connections()))
    })

    test('follows redirects where it may, as often as it may, and without credentials to others', async (t, door) => {
      const seen: (string | undefined)[] = []
      const { url: other } = await listening(t, (request, response) => {
        seen.push(request.headers.authorization)
        response.end('there')
      })
      const { url } = await listening(t, (request, response) => {
        seen.push(request.headers.authorization)
        const [, left] = (request.url ?? '').split('/')
        response.writeHead(302, { location: left === '0' ? other : `/${Number(left) - 1}` }).end()
      })
      const ask = (redirectsMax: number, path: string) =>
        door.ask({ ...get(`${url}/${path}`), redirectsMax, credentials: { authorization: 'Bearer secret' } }, text)
      assert.equal(await ask(3, '2'), 'there')
      assert.deepEqual(seen, ['Bearer secret', 'Bearer secret', 'Bearer secret', undefined])
      await troubles(ask(2, '2'), 'redirect', /redirects to http:\/\/127\.0\.0\.1:\d+, which is not followed$/)
      await troubles(ask(0, '0'), 'redirect', /not followed/)
      const posted = door.ask({ ...get(`${url}/0`), method: 'POST', redirectsMax: 3 }, text)
      await troubles(posted, 'redirect', /not followed/)
    })

    test('follows no redirect that leads nowhere, round in circles, or to what is no HTTP', async (t, door) => {
      for (const location of [
        'file:///etc/passwd',
        'ftp://127.0.0.1/',
        'http://',
        'http://secret:secret@127.0.0.1/',
        undefined,
      ]) {
        const { url } = await listening(t, (_request, response) => {
          response.writeHead(302, location === undefined ? {} : { location }).end()
        })
        await troubles(door.ask({ ...get(url), redirectsMax: 5 }, text), 'redirect', /no address/)
      }
      const { url } = await listening(t, (_request, response) => void response.writeHead(307, { location: '/' }).end())
      await troubles(door.ask({ ...get(url), redirectsMax: 1_000 }, text), 'redirect', /not followed/)
    })

    test('takes no more of a body than it may, whether its length is announced or not', async (t, door) => {
      const sent = { bytes: 0 }
      const { url } = await listening(t, (request, response) => {
        if (request.url === '/announced') response.setHeader('content-length', 1_000_000_000)
        const piece = Buffer.alloc(65_536)
        const more = (): void => {
          while (!response.destroyed && sent.bytes < 1_000_000_000) {
            sent.bytes += piece.byteLength
            if (!response.write(piece)) return void response.once('drain', more)
          }
        }
        more()
      })
      const taken = { bytes: 0 }
      const take = async ({ pieces }: OutboundAnswer): Promise<void> => {
        for await (const piece of pieces) taken.bytes += piece.byteLength
      }
      await troubles(door.ask(get(`${url}/announced`), take), 'answer', /larger than 1000000 bytes/)
      assert.equal(taken.bytes, 0)
      await troubles(door.ask(get(url), take), 'answer', /larger than 1000000 bytes/)
      assert.ok(taken.bytes <= 1_000_000)
      assert.ok(sent.bytes < 100_000_000, 'the sender was cut')
      const asked = door.ask(get(url), async (answer) => void (await answer.whole(1_000)))
      await troubles(asked, 'answer', /larger than 1000 bytes/)
    })

    test('is cut off by nobody who leaves a large body where it is', async (t, door) => {
      const { url } = await listening(t, (_request, response) => void response.end(Buffer.alloc(900_000)))
      for (let n = 0; n < 3; n += 1) {
        assert.equal(await door.ask(get(url), async ({ status }) => status), 200)
        const first = await door.ask(get(url), async ({ pieces }) => {
          for await (const piece of pieces) return piece.byteLength
          return 0
        })
        assert.ok(first > 0)
      }
    })

    test('slows the sender of a body that is taken slowly, and does not take that for slowness of the sender', async (t, door) => {
      const size = 64_000_000
      const sent = { bytes: 0 }
      const { url } = await listening(t, (_request, response) => {
        const piece = Buffer.alloc(65_536)
        const more = (): void => {
          while (sent.bytes < size) {
            sent.bytes += piece.byteLength
            if (!response.write(piece)) return void response.once('drain', more)
          }
          response.end()
        }
        more()
      })
      await door.ask({ ...get(url), bodyBytesMax: 2 * size }, async ({ pieces }) => {
        let taken = 0
        for await (const piece of pieces) {
          if (taken === 0) {
            // What was under way comes to rest in buffers of the system; from then on nothing more is sent.
            let before = -1
            while (before !== sent.bytes) {
              before = sent.bytes
              await new Promise((resolve) => setTimeout(resolve, 300))
            }
            assert.ok(sent.bytes < size / 2, `${sent.bytes} were sent to somebody who takes none`)
          }
          taken += piece.byteLength
        }
        assert.equal(taken, sent.bytes)
      })
    })

    test('waits for an answer as long as it is told, and not longer', async (t, door) => {
      const silent = await bare(t, () => undefined)
      const half = await bare(t, (socket) => void socket.write('HTTP/1.1 200 OK\r\nx-secret'))
      const trickling = await bare(t, (socket) => {
        const timer = setInterval(() => socket.write('x'), 10)
        socket.on('close', () => clearInterval(timer))
        socket.write('HTTP/1.1 200 OK\r\nx-long: ')
      })
      for (const url of [silent, half, trickling])
        await troubles(door.ask({ ...get(url), answerMs: 150 }, text), 'timeout', /no answer within 150 ms/)
    })

    test('is done with a body that stops, or that trickles without end', async (t, door) => {
      for (const every of [5, 1_000_000]) {
        const url = await bare(t, (socket) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n')
          const timer = setInterval(() => socket.write('x'), every)
          socket.on('close', () => clearInterval(timer))
        })
        await troubles(door.ask(get(url), text), 'timeout', /too slowly/)
      }
    })

    test('tells who cuts, who refuses and who is not there from each other', async (t, door) => {
      const cut = await bare(t, (socket) => void socket.destroy())
      await troubles(door.ask({ ...get(cut), method: 'POST' }, text), 'network', /cut/)
      const reset = await bare(t, (socket) => void socket.once('data', () => socket.resetAndDestroy()))
      await troubles(door.ask(get(`${reset}/secret?secret`), text), 'network', /cut/)
      const inTheMiddle = await bare(
        t,
        (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
      )
      await troubles(door.ask(get(inTheMiddle), text), 'network', /cut/)
      const chunked = await bare(
        t,
        (socket) => void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'),
      )
      await troubles(door.ask(get(chunked), text), 'network', /cut/)
      await troubles(door.ask(get(await nobodyListens()), text), 'network', /nobody listens/)
    })

    test('takes nothing for HTTP that is none, and no head that never ends', async (t, door) => {
      const says = (what: string | (() => Iterable<string>)) =>
        bare(t, (socket) => {
          socket.once('data', () => {
            if (typeof what === 'string') return void socket.write(what)
            for (const piece of what()) socket.write(piece)
          })
        })
      const flood = function* (line: string, times: number): Generator<string> {
        yield 'HTTP/1.1 200 OK\r\n'
        for (let n = 0; n < times; n += 1) yield line.replace('N', String(n))
      }
      const ask = async (what: string | (() => Iterable<string>), why: RegExp): Promise<void> =>
        troubles(door.ask({ ...get(await says(what)), answerMs: 2_000 }, text), 'answer', why)
      await ask('220 mail.example.org ESMTP\r\n', /no HTTP/)
      await ask('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', /no HTTP/)
      await ask('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n', /no HTTP/)
      await ask('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', /no HTTP/)
      await ask(() => flood('x-N: x\r\n', 10_000), /head of its answer is too large/)
      await ask(() => flood('x'.repeat(1_000), 100), /too large/)
      await ask('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000), /too much before its answer/)
    })

    test('gives up when it is told to, before the answer and in it', async (t, door) => {
      const { url } = await listening(t, (request, response) => {
        if (request.url === '/begun') response.write('begun')
      })
      const before = new AbortController()
      const asked = door.ask({ ...get(url), signal: before.signal }, text)
      before.abort(new RangeError('no more'))
      await assert.rejects(asked, new RangeError('no more'))
      await assert.rejects(door.ask({ ...get(url), signal: before.signal }, text), new RangeError('no more'))
      const within = new AbortController()
      const read = door.ask({ ...get(`${url}/begun`), signal: within.signal }, async ({ pieces }) => {
        for await (const piece of pieces) within.abort(new RangeError(`after ${piece.byteLength}`))
      })
      await assert.rejects(read, new RangeError('after 5'))
    })

    test('throws what the taker throws, and cuts the body', async (t, door) => {
      const closed = Promise.withResolvers<void>()
      const { url } = await listening(t, (_request: IncomingMessage, response: ServerResponse) => {
        response.on('close', closed.resolve)
        response.write('begun')
      })
      const theirs = Object.assign(new Error('theirs'), { code: 'ECONNRESET' })
      await assert.rejects(
        door.ask(get(url), async () => {
          throw theirs
        }),
        (error) => error === theirs,
      )
      await closed.promise
    })

    test('repeats what may be repeated where a connection that was kept is closed', async (t, door) => {
      let asked = 0
      const url = await bare(t, (socket) => {
        let here = 0
        socket.on('data', () => {
          asked += 1
          here += 1
          if (here === 2) return void socket.destroy()
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        })
      })
      const status = async (method: 'GET' | 'POST', repeatable = method === 'GET'): Promise<number> => {
        const answered = await door.ask({ ...get(url), method, repeatable }, async (answer) => {
          await answer.whole(0)
          return answer.status
        })
        // The connection is free a moment after the body was read.
        await new Promise((resolve) => setImmediate(resolve))
        return answered
      }
      assert.equal(await status('GET'), 200)
      assert.equal(await status('GET'), 200)
      assert.equal(await status('POST', true), 200)
      await troubles(status('POST'), 'network', /cut/)
      assert.equal(asked, 6)
    })

    test('lets two ask at once; the third waits, and its time goes on', async (t, door) => {
      const waiting: ServerResponse[] = []
      const { url } = await listening(t, (_request, response) => void waiting.push(response))
      const ask = (answerMs: number) => door.ask({ ...get(url), answerMs }, async ({ status }) => status)
      const first = [ask(5_000), ask(5_000)]
      await troubles(ask(200), 'timeout', /too many were asked at once; it was not sent within 200 ms/)
      const third = ask(5_000)
      assert.equal(waiting.length, 2)
      for (const response of waiting) response.end()
      assert.deepEqual(await Promise.all(first), [200, 200])
      while (waiting.length < 3) await new Promise((resolve) => setImmediate(resolve))
      waiting[2]?.end()
      assert.equal(await third, 200)
    })

    test('asks nothing that is no address, or that has a password in it', async (_t, door) => {
      for (const url of [
        '',
        'nowhere',
        'file:///etc/passwd',
        'https://secret:secret@example.org',
        'https://',
        `https://a/${'x'.repeat(3_000)}`,
      ])
        await troubles(door.ask(get(url), text), 'blocked', /none of http/)
    })
  })
}
