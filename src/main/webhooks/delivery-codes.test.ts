import assert from 'node:assert/strict'
import https from 'node:https'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { stillClock } from '../../../test/harness/service.ts'
import { type Identity, smallAuthority } from '../../../test/harness/small-authority.ts'
import { parseNetworks } from '../../adapters/outbound-fetch/networks.ts'
import { type OutboundOptions, openOutboundHttp } from '../../adapters/outbound-fetch/outbound-fetch.ts'
import { createCarrier } from '../../features/operating/webhooks/carrying.ts'
import { monotonicMs } from '../../kernel/monotonic.ts'
import { minute } from '../../kernel/units.ts'
import { bare, listening, nobodyListens, opened } from '../../ports/outbound-servers.suite.ts'

/*
 * Receivers that attack whoever sends to them, from the address that is typed to the code that is told: each ends in
 * the one that is documented, and what lies inward hears nothing.
 */

type Delivering = (url: string, events?: number) => Promise<string>

/** Sends events by a carrier, and says how it went: `taken` so many times, then the code. */
const delivering = (t: TestContext, options: Partial<OutboundOptions> = {}): Delivering => {
  const allowed = parseNetworks(['127.0.0.1'])
  const here = { allowed, authorities: [], proxyFor: () => null, userAgent: 'svc/test' }
  const door = openOutboundHttp({ ...here, ...options })
  t.after(() => door[Symbol.asyncDispose]())
  const secrets = async () => [Buffer.from('a secret of sixteen bytes or more')]
  const carrier = createCarrier({ door, clock: stillClock(), secretsOf: () => secrets, standBackMs: () => 0 })
  return async (url, events = 1) => {
    const subscription = { id: url, repository: 'releases', url, actions: null }
    const load = {
      subscription,
      secretFiles: { secretFile: '', nextSecretFile: null },
      events: Array.from({ length: events }, (_, n) => ({
        sequence: n + 1,
        action: 'artifact.publish' as const,
        artifactId: '',
        detail: null,
      })),
      untilMs: monotonicMs() + minute,
    }
    const { taken, fault } = await carrier.carry(load, new Int32Array(1))
    return [...Array.from({ length: taken }, () => 'taken'), ...(fault === null ? [] : [fault.code])].join(', ')
  }
}

/** A name has these addresses, one answer after the other; the last one stays. */
const answersOf = (...answers: readonly (readonly string[])[]) => {
  let asked = 0
  return async () => {
    const now = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    return now.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}

/** Says this to each request. */
const saying = (t: TestContext, said: string | ((socket: Socket) => void)): Promise<string> =>
  bare(t, (socket) => {
    socket.on('data', () => {
      if (typeof said === 'string') socket.write(said)
      else said(socket)
    })
  })

/** What lies inward: nobody is to hear anything there. */
const inwardness = async (t: TestContext) => {
  const heard: string[] = []
  const { url } = await listening(t, (request, response) => {
    heard.push(request.url ?? '')
    response.end()
  })
  return { url, port: new URL(url).port, heard }
}

/** Writes for as long as anybody takes it, and counts. */
const flooding = async (t: TestContext, head: string) => {
  const sent = { bytes: 0 }
  const piece = Buffer.alloc(65_536, 'x')
  const url = await saying(t, (socket) => {
    socket.write(head)
    const more = (): void => {
      while (!socket.destroyed && sent.bytes < 1_000_000_000) {
        sent.bytes += piece.byteLength
        if (!socket.write(piece)) return void socket.once('drain', more)
      }
    }
    more()
  })
  return { url, sent }
}

describe('a delivery', () => {
  it('is blocked where the address leads inward, however that is written, and nobody there hears of it', async (t) => {
    const { port, heard } = await inwardness(t)
    const deliver = delivering(t, { allowed: [], plainHttp: true })
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0177.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[::ffff:169.254.169.254]',
      '169.254.169.254',
      '2852039166',
      '10.0.0.1',
      '0.0.0.0',
      'localhost',
    ])
      for (const scheme of ['http', 'https'])
        assert.equal(await deliver(`${scheme}://${host}:${port}/hook`), 'blocked', host)
    const plain = delivering(t, { lookup: answersOf(['127.0.0.1']) })
    assert.equal(await plain(`http://hooks.example:${port}/hook`), 'blocked', 'plain HTTP')
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '::ffff:127.0.0.1'], ['fd00:ec2::254'], ['168.63.129.16']]) {
      const named = delivering(t, { allowed: [], lookup: answersOf(addresses) })
      assert.equal(await named(`https://hooks.example:${port}/hook`), 'blocked', addresses.join())
    }
    assert.deepEqual(heard, [])
  })

  it('is blocked where the name changed what it means, and goes nowhere but to what was looked at', async (t) => {
    const { port, heard } = await inwardness(t)
    const outside = await saying(t, 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')
    const deliver = delivering(t, { plainHttp: true, lookup: answersOf(['127.0.0.1'], ['127.0.0.2']) })
    assert.equal(await deliver(`http://changing.example:${new URL(outside).port}/`, 3), 'taken, blocked')
    const inward = delivering(t, {
      allowed: parseNetworks(['127.0.0.2']),
      plainHttp: true,
      lookup: answersOf(['127.0.0.1']),
    })
    assert.equal(await inward(`http://changing.example:${port}/`), 'blocked')
    assert.deepEqual(heard, [])
  })

  it('follows no redirect, inward or outward', async (t) => {
    const { url: inward, heard } = await inwardness(t)
    const deliver = delivering(t)
    for (const status of [301, 302, 303, 307, 308])
      for (const location of [
        inward,
        'http://169.254.169.254/latest',
        'https://example.org/',
        '//2130706433/',
        'file:///',
      ])
        assert.equal(
          await deliver(
            await saying(t, `HTTP/1.1 ${status} There\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
          ),
          'redirect',
        )
    for (const status of [300, 304, 399])
      assert.equal(await deliver(await saying(t, `HTTP/1.1 ${status} x\r\ncontent-length: 0\r\n\r\n`)), 'redirect')
    assert.deepEqual(heard, [])
  })

  it('takes a 2xx for a success, and little of what follows it', async (t) => {
    const deliver = delivering(t)
    for (const [head, told] of [
      ['HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n', 'taken'],
      ['HTTP/1.1 202 OK\r\n\r\n', 'taken'],
      ['HTTP/1.1 500 No\r\ncontent-length: 1000000000\r\n\r\n', 'http_5xx'],
      ['HTTP/1.1 404 No\r\n\r\n', 'http_4xx'],
      ['HTTP/1.1 302 No\r\nlocation: /\r\n\r\n', 'redirect'],
    ] as const) {
      const { url, sent } = await flooding(t, head)
      assert.equal(await deliver(url), told)
      assert.ok(sent.bytes < 100_000_000, `${sent.bytes} bytes were sent before the sender was cut`)
    }
    for (const [status, told] of [
      [299, 'taken'],
      [400, 'http_4xx'],
      [499, 'http_4xx'],
      [599, 'http_5xx'],
      [600, 'network'],
      [999, 'network'],
    ] as const)
      assert.equal(await deliver(await saying(t, `HTTP/1.1 ${status} x\r\ncontent-length: 0\r\n\r\n`)), told)
  })

  it('is `network` where an answer is none, or has a head without end, or nobody gives one', async (t) => {
    const deliver = delivering(t, { lookup: answersOf([]) })
    for (const head of ['HTTP/1.1 200 OK\r\nx: ', 'HTTP/1.1 200 OK\r\n', '']) {
      const { url, sent } = await flooding(t, head)
      assert.equal(await deliver(url), 'network')
      assert.ok(sent.bytes < 100_000_000)
    }
    for (const said of [
      `HTTP/1.1 200 OK\r\n${'x-n: x\r\n'.repeat(10_000)}\r\n`,
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000),
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      '220 mail.example.org ESMTP\r\n',
    ])
      assert.equal(await deliver(await saying(t, said)), 'network')
    assert.equal(await deliver(await saying(t, (socket) => void socket.resetAndDestroy())), 'network')
    assert.equal(await deliver(await saying(t, (socket) => void socket.end())), 'network')
    assert.equal(await deliver(await nobodyListens()), 'network')
    assert.equal(await deliver('https://nowhere.example/'), 'network')
  })

  it('is `tls` where the certificate is over, for another host, signed by itself or by nobody known', async (t) => {
    const own = await smallAuthority(t)
    const reached: string[] = []
    const secured = async (identity: Identity): Promise<string> => {
      const server = https.createServer(identity, (request, response) => {
        reached.push(request.url ?? '')
        response.writeHead(204).end()
      })
      server.on('tlsClientError', () => undefined)
      return new URL(await opened(t, server)).port
    }
    const options = { authorities: [own.certificate], lookup: answersOf(['127.0.0.1']) }
    const deliver = delivering(t, options)
    const good = await secured(await own.issue(['good.example']))
    for (const port of [
      await secured(await own.issue(['good.example'], 'expired')),
      await secured(await own.issue(['other.example'])),
      await secured(await own.selfSigned('good.example')),
      await secured(await (await smallAuthority(t)).issue(['good.example'])),
      new URL((await listening(t, (_request, response) => void response.end())).url).port,
    ])
      assert.equal(await deliver(`https://good.example:${port}/`), 'tls')
    assert.equal(await delivering(t, { lookup: options.lookup })(`https://good.example:${good}/`), 'tls')
    assert.equal(await deliver(`https://127.0.0.1:${good}/`), 'tls')
    assert.deepEqual(reached, [])
    assert.equal(await deliver(`https://good.example:${good}/`, 2), 'taken, taken')
  })
})
