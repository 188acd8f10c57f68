import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { troubles } from './outbound-http.suite.ts'
import type { OutboundHttp, OutboundLine } from './outbound-http.ts'
import { bare, listening, nobodyListens } from './outbound-servers.suite.ts'

const event = { headers: { 'x-event': 'one' }, body: Buffer.from('{"é":1}'), answerMs: 5_000 } as const
const post = (line: OutboundLine, answerMs: number = event.answerMs): Promise<number> =>
  line.post({ ...event, answerMs })

/** Answers each request that came whole with this text; counts connections and requests. */
const answering = async (t: TestContext, answer: string | ((socket: Socket, nth: number) => void)) => {
  const seen = { connections: 0, requests: 0 }
  const url = await bare(t, (socket) => {
    seen.connections += 1
    let came = ''
    socket.on('data', (piece) => {
      came += piece.toString('latin1')
      if (!came.endsWith('}')) return
      came = ''
      seen.requests += 1
      if (typeof answer === 'string') socket.write(answer)
      else answer(socket, seen.requests)
    })
  })
  return { url, seen }
}

/** What the lines of every door have to prove. `open` gives a door that may ask this machine. */
export const outboundLineSuite = (title: string, open: () => OutboundHttp): void => {
  describe(`a line of ${title}`, () => {
    const test = (
      does: string,
      run: (t: TestContext, lineTo: (url: string) => OutboundLine) => Promise<void>,
    ): void => {
      it(does, async (t) => {
        const door = open()
        t.after(() => door[Symbol.asyncDispose]())
        await run(t, (url) => door.line(url))
      })
    }

    test('posts what it is given, and tells the status, whatever it is', async (t, lineTo) => {
      const seen: unknown[] = []
      const { url, connections } = await listening(t, async (request, response) => {
        const body = Buffer.concat(await request.toArray()).toString()
        const { host, 'x-event': name, 'user-agent': agent } = request.headers
        seen.push([request.method, request.url, host, name, typeof agent, body])
        const [, status] = (request.url ?? '').split('/')
        response.writeHead(Number(status)).end('said')
      })
      const { host } = new URL(url)
      for (const status of [200, 201, 299, 300, 304, 400, 404, 500, 599]) {
        assert.equal(await post(lineTo(`${url}/${status}/%20?a=b`)), status)
        assert.deepEqual(seen.pop(), ['POST', `/${status}/%20?a=b`, host, 'one', 'string', '{"é":1}'])
      }
      assert.equal(connections(), 9)
    })

    test('keeps its connection after every little answer that ends', async (t, lineTo) => {
      for (const answer of [
        'HTTP/1.1 204 No Content\r\n\r\n',
        'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
        'HTTP/1.1 500 \r\nContent-Length:0\r\nX-Twice: a\r\nX-Twice: b\r\n\r\n',
        'HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2;a=b\r\nok\r\n1\r\n!\r\n0\r\nx-trailer: a\r\n\r\n',
        'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
      ]) {
        const { url, seen } = await answering(t, answer)
        const line = lineTo(url)
        for (let n = 0; n < 3; n += 1) await post(line)
        assert.deepEqual(seen, { connections: 1, requests: 3 }, answer)
      }
    })

    test('hears the answer behind a "100 Continue" that nobody asked for, having posted once more at first', async (t, lineTo) => {
      for (const early of ['', 'HTTP/1.1 103 Early Hints\r\n\r\n']) {
        const answer = `${early}HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n`
        const { url, seen } = await answering(t, answer)
        const line = lineTo(url)
        for (let n = 0; n < 3; n += 1) assert.equal(await post(line), 204)
        assert.equal(seen.requests, 4)
      }
      const silent = await answering(t, 'HTTP/1.1 100 Continue\r\n\r\n')
      const line = lineTo(silent.url)
      await troubles(post(line, 150), 'timeout', /no answer within 150 ms/)
      await troubles(post(line, 150), 'timeout', /no answer within 150 ms/)
      const giving = new AbortController()
      const work = line.post({ ...event, signal: giving.signal })
      giving.abort(new RangeError('no more'))
      await assert.rejects(work, new RangeError('no more'))
    })

    test('hears an answer in pieces of any size', async (t, lineTo) => {
      const whole = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'
      const { url, seen } = await answering(t, async (socket) => {
        for (const letter of whole) {
          socket.write(letter)
          await new Promise((resolve) => setImmediate(resolve))
        }
      })
      const line = lineTo(url)
      for (let n = 0; n < 3; n += 1) assert.equal(await post(line), 200)
      assert.deepEqual(seen, { connections: 1, requests: 3 })
    })

    test('uses no connection again of which it cannot know where the answer ends, or that is to be closed', async (t, lineTo) => {
      for (const answer of [
        'HTTP/1.1 200 OK\r\nconnection: keep-alive, Close\r\ncontent-length: 0\r\n\r\n',
        'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n',
        'HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\n',
        'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n',
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
        'HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nsome',
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1388\r\n${'x'.repeat(5_000)}\r\n0\r\n\r\n`,
      ]) {
        const { url, seen } = await answering(t, answer)
        const line = lineTo(url)
        for (let n = 0; n < 3; n += 1) assert.equal(await post(line), Number(answer.slice(9, 12)))
        assert.deepEqual(seen, { connections: 3, requests: 3 }, answer)
      }
    })

    test('is cut off by nobody whose answer is enormous or endless, and takes little of it', async (t, lineTo) => {
      for (const head of ['', 'content-length: 1000000000\r\n', 'transfer-encoding: chunked\r\n']) {
        let sent = 0
        const { url, seen } = await answering(t, (socket) => {
          socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n`)
          const piece = Buffer.alloc(65_536)
          const more = (): void => {
            while (!socket.destroyed && sent < 1_000_000_000) {
              sent += piece.byteLength
              if (!socket.write(piece)) return void socket.once('drain', more)
            }
          }
          more()
        })
        const line = lineTo(url)
        for (let n = 0; n < 3; n += 1) assert.equal(await post(line), 200)
        assert.equal(seen.connections, 3)
        assert.ok(sent < 100_000_000, `${sent} bytes were sent before the sender was cut`)
      }
      const { url, seen } = await answering(t, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        const timer = setInterval(() => socket.write('x'), 5)
        socket.on('close', () => clearInterval(timer))
      })
      const line = lineTo(url)
      assert.deepEqual([await post(line), await post(line)], [200, 200])
      assert.equal(seen.connections, 2)
    })

    test('takes nothing for its answer that came unasked, or behind another one', async (t, lineTo) => {
      const behind = await answering(
        t,
        (socket, nth) => void socket.write(`HTTP/1.1 20${nth} OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 No\r\n\r\n`),
      )
      const line = lineTo(behind.url)
      assert.deepEqual([await post(line), await post(line)], [201, 202])
      assert.equal(behind.seen.connections, 2)
      const closed = Promise.withResolvers<void>()
      const later = await answering(t, (socket, nth) => {
        socket.write(`HTTP/1.1 20${nth} OK\r\ncontent-length: 0\r\n\r\n`)
        if (nth > 1) return
        socket.on('close', closed.resolve)
        setImmediate(() => socket.write('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n'))
      })
      const other = lineTo(later.url)
      assert.equal(await post(other), 201)
      await closed.promise
      assert.equal(await post(other), 202)
    })

    test('follows no redirect', async (t, lineTo) => {
      const { url } = await listening(t, (request, response) => {
        response.writeHead(308, request.url === '/nowhere' ? {} : { location: 'http://127.0.0.1:1/secret' }).end()
      })
      await troubles(post(lineTo(url)), 'redirect', /redirects to http:\/\/127\.0\.0\.1:1, which is not followed$/)
      await troubles(post(lineTo(`${url}/nowhere`)), 'redirect', /no address/)
    })

    test('waits for an answer as long as it is told, and not longer', async (t, lineTo) => {
      const silent = await bare(t, () => undefined)
      const half = await bare(t, (socket) => void socket.write('HTTP/1.1 200 OK\r\nx-secret'))
      const trickling = await bare(t, (socket) => {
        const timer = setInterval(() => socket.write('x'), 10)
        socket.on('close', () => clearInterval(timer))
        socket.write('HTTP/1.1 200 OK\r\nx-long: ')
      })
      for (const url of [silent, half, trickling])
        await troubles(
          lineTo(url).post({ ...event, body: Buffer.alloc(30), answerMs: 150 }),
          'timeout',
          /no answer within 150 ms/,
        )
      const { url, seen } = await answering(t, (socket, nth) => {
        if (nth !== 2) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      })
      const line = lineTo(url)
      assert.equal(await post(line), 204)
      await troubles(post(line, 150), 'timeout', /no answer/)
      assert.equal(await post(line), 204)
      assert.deepEqual(seen, { connections: 2, requests: 3 }, 'what comes too late answers nothing else')
    })

    test('tells who cuts, who refuses and who is not there from each other', async (t, lineTo) => {
      const cut = await bare(t, (socket) => void socket.destroy())
      await troubles(post(lineTo(`${cut}/secret?secret`)), 'network', /cut/)
      const reset = await bare(t, (socket) => void socket.once('data', () => socket.resetAndDestroy()))
      await troubles(post(lineTo(`${reset}/secret?secret`)), 'network', /cut/)
      const inTheMiddle = await answering(t, (socket) => void socket.end('HTTP/1.1 200 OK\r\n'))
      await troubles(post(lineTo(inTheMiddle.url)), 'network', /cut/)
      await troubles(post(lineTo(await nobodyListens())), 'network', /nobody listens/)
    })

    test('takes nothing for HTTP that is none, and no head that never ends', async (t, lineTo) => {
      const ask = async (said: string, why: RegExp): Promise<void> =>
        troubles(post(lineTo((await answering(t, said)).url), 2_000), 'answer', why)
      for (const said of [
        '220 mail.example.org ESMTP\r\n',
        '\r\nHTTP/1.1 200 OK\r\n\r\n',
        'HTTP/2 200 OK\r\n\r\n',
        'HTTP/1.1 2000 OK\r\n\r\n',
        'HTTP/1.1 099 OK\r\n\r\n',
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: secret\r\nconnection: upgrade\r\n\r\n',
        'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
        'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
        'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
        'HTTP/1.1 200 OK\r\n folded: x\r\n\r\n',
        'HTTP/1.1 200 OK\r\na b: x\r\n\r\n',
        'HTTP/1.1 200 OK\r\na: x\ny: z\r\n\r\n',
        'HTTP/1.1 200 OK\r\na: \0\r\n\r\n',
      ])
        await ask(said, /no HTTP/)
      await ask(`HTTP/1.1 200 OK\r\n${'x-n: x\r\n'.repeat(10_000)}`, /head of its answer is too large/)
      await ask(`HTTP/1.1 200 OK\r\n${'x'.repeat(100_000)}`, /too large/)
      await ask(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`, /too large/)
      await ask('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000), /too much before its answer/)
    })

    test('posts again where the connection that it kept is closed, and only then', async (t, lineTo) => {
      const { url, seen } = await answering(t, (socket, nth) => {
        if (nth === 3 || nth >= 5) socket.destroy()
        else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      })
      const line = lineTo(url)
      assert.deepEqual([await post(line), await post(line), await post(line)], [200, 200, 200])
      assert.equal(seen.requests, 4)
      await troubles(post(line), 'network', /cut/)
      assert.equal(seen.requests, 6)
      await troubles(post(line), 'network', /cut/)
      assert.equal(seen.requests, 7)
    })

    test('gives up when it is told to, and goes on with another connection', async (t, lineTo) => {
      const asked = Promise.withResolvers<void>()
      const { url } = await answering(t, (socket, nth) => {
        asked.resolve()
        if (nth > 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      })
      const line = lineTo(url)
      const giving = new AbortController()
      const work = line.post({ ...event, signal: giving.signal })
      await asked.promise
      giving.abort(new RangeError('no more'))
      await assert.rejects(work, new RangeError('no more'))
      await assert.rejects(line.post({ ...event, signal: giving.signal }), new RangeError('no more'))
      assert.equal(await post(line), 204)
      const early = new AbortController()
      const connecting = lineTo(url).post({ ...event, signal: early.signal })
      early.abort(new RangeError('at once'))
      await assert.rejects(connecting, new RangeError('at once'))
    })

    test('lets nothing out of a header, and asks nothing that is no address', async (t, lineTo) => {
      const { url, seen } = await answering(t, 'HTTP/1.1 204 No Content\r\n\r\n')
      for (const value of ['a\r\nb: c', 'a\nb', 'a\0', 'é—'])
        await assert.rejects(lineTo(url).post({ ...event, headers: { 'x-a': value } }), /what no header may have/)
      assert.equal(seen.requests, 0)
      for (const address of ['', 'nowhere', 'file:///etc/passwd', 'https://secret:secret@example.org'])
        await troubles((async () => post(lineTo(address)))(), 'blocked', /none of http/)
    })

    test('is closed with its connection', async (t, lineTo) => {
      const closed = Promise.withResolvers<void>()
      const { url } = await answering(t, (socket) => {
        socket.on('close', closed.resolve)
        socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      })
      const line = lineTo(url)
      await post(line)
      line.close()
      await closed.promise
    })
  })
}
