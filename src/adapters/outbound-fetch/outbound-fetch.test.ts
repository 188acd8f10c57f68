import assert from 'node:assert/strict'
import http from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { webhooksMax } from '../../kernel/limits/webhooks.ts'
import { get, outboundHttpSuite, text, troubles } from '../../ports/outbound-http.suite.ts'
import { outboundLineSuite } from '../../ports/outbound-line.suite.ts'
import { bare, listening, opened } from '../../ports/outbound-servers.suite.ts'
import { parseNetworks, refusalOf } from './networks.ts'
import { type OutboundOptions, openOutboundHttp } from './outbound-fetch.ts'
import type { Resolved } from './resolving.ts'

const loopback = parseNetworks(['127.0.0.0/8', '::1'])
const open = (options: Partial<OutboundOptions>) =>
  openOutboundHttp({
    allowed: [],
    authorities: [],
    proxyFor: () => null,
    userAgent: 'svc/test',
    plainHttp: true,
    ...options,
  })

const opening = (t: TestContext, options: Partial<OutboundOptions> = {}) => {
  const door = open(options)
  t.after(() => door[Symbol.asyncDispose]())
  return door
}

outboundHttpSuite('node:http', () =>
  open({ allowed: loopback, patienceMs: 150, slowestBytesPerSecond: 1_000_000, atOnceMax: 2 }),
)

outboundLineSuite('the door', () => open({ allowed: loopback }))

/** Answers each question for a name with the next of these; the last one stays. */
const names = (...answers: readonly (readonly string[])[]) => {
  const asked: string[] = []
  const lookup = async (name: string): Promise<Resolved[]> => {
    const now = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(name)
    return now.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { asked, lookup }
}

describe('the address that is asked', () => {
  it('is public, however it is written, or it is refused', () => {
    const inward = [
      '127.0.0.1',
      '127.255.255.254',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '100.100.100.200',
      '168.63.129.16',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '240.0.0.1',
      '192.0.2.1',
      '192.0.0.192',
      '198.18.0.1',
      '192.88.99.1',
      '::1',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd00:ec2::254',
      'ff02::1',
      'fec0::1',
      '2001:db8::1',
      '4000::1',
      '::7f00:1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:a00:1',
      '::ffff:169.254.169.254',
      '64:ff9b::7f00:1',
      '64:ff9b::10.0.0.1',
      '64:ff9b:1::1',
      '2002:7f00:1::',
      '2001::1',
      '',
      '2130706433',
      '0177.0.0.1',
      '127.1',
      'localhost',
    ]
    for (const address of inward) assert.notEqual(refusalOf(address, []), null, address)
    const outward = ['8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808']
    for (const address of outward) assert.equal(refusalOf(address, []), null, address)
  })

  it('may lie in a network that is allowed, also where it is written as IPv6', () => {
    const allowed = parseNetworks(['10.1.0.0/16', '192.168.7.7', 'fd00:1::/32'])
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::a01:203', '192.168.7.7', 'fd00:1::7'])
      assert.equal(refusalOf(address, allowed), null, address)
    for (const address of ['10.2.0.1', '::ffff:10.2.0.1', '192.168.7.8', 'fd00:2::1', '127.0.0.1'])
      assert.notEqual(refusalOf(address, allowed), null, address)
  })

  it('is allowed by networks that are written as networks', () => {
    for (const wrong of [
      '10',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '010.0.0.0/8',
      '::1/129',
      'localhost',
      '10.0.0.0/x',
      '',
    ])
      assert.throws(() => parseNetworks([wrong]), /is no network; write it like 10\.0\.0\.0\/8/, wrong)
  })

  it('is looked at in every spelling that a URL has', async (t) => {
    const reached: string[] = []
    const { url } = await listening(t, (request, response) => {
      reached.push(request.url ?? '')
      response.end()
    })
    const { port } = new URL(url)
    const door = opening(t)
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '127.0.0.1.',
      '①②⑦.0.0.1',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::1]',
      '0',
      'localhost',
      'LOCALHOST.',
      '[64:ff9b::7f00:1]',
    ])
      await troubles(door.ask(get(`http://${host}:${port}/`), text), 'blocked', /and that is not allowed/)
    assert.deepEqual(reached, [])
  })

  it('is the one that was looked at, although the name means another one by then', async (t) => {
    const inside: string[] = []
    const { url } = await listening(t, (request, response) => {
      inside.push(request.url ?? '')
      response.end('inside')
    })
    const { port } = new URL(url)
    // Another address of this machine stands for what is outside.
    const outside = http.createServer(
      (_request, response) => void response.setHeader('connection', 'close').end('outside'),
    )
    await opened(t, outside, '127.0.0.2', Number(port))
    const changing = names(['127.0.0.2'], ['127.0.0.1'])
    const door = opening(t, { allowed: parseNetworks(['127.0.0.2']), lookup: changing.lookup })
    const ask = () => door.ask(get(`http://changing.example:${port}/secret`), text)
    assert.equal(await ask(), 'outside')
    assert.equal(changing.asked.length, 1, 'whoever looks twice may see two')
    await troubles(ask(), 'blocked', /127\.0\.0\.1 is this machine/)
    assert.deepEqual(inside, [])
  })

  it('is resolved once for a connection, and connected to under the name that was asked', async (t) => {
    const { url } = await listening(t, (request, response) => void response.end(request.headers.host))
    const { port } = new URL(url)
    const known = names(['127.0.0.1'], ['192.0.2.1'])
    const door = opening(t, { allowed: loopback, lookup: known.lookup })
    assert.equal(await door.ask(get(`http://inside.example:${port}/`), text), `inside.example:${port}`)
    assert.equal(
      await door.ask(get(`http://inside.example:${port}/`), text),
      `inside.example:${port}`,
      'over the same connection',
    )
    assert.deepEqual(known.asked, ['inside.example'])
  })

  it('is looked up whatever the names of all other receivers do, and nobody waits for one beyond the time', async (t) => {
    const { url } = await listening(t, (_request, response) => void response.end('here'))
    const { port } = new URL(url)
    const silent = Promise.withResolvers<never>()
    const lookup = async (name: string): Promise<Resolved[]> =>
      name.startsWith('silent') ? await silent.promise : [{ address: '127.0.0.1', family: 4 }]
    const door = opening(t, { allowed: loopback, lookup })
    const ask = (name: string, answerMs: number) =>
      door.ask({ ...get(`http://${name}.example:${port}/`), answerMs }, text)
    const others = Array.from({ length: webhooksMax - 1 }, (_, n) =>
      troubles(ask(`silent-${n}`, 300), 'timeout', /within 300 ms/),
    )
    assert.equal(await ask('quick', 5_000), 'here')
    await Promise.all(others)
    assert.equal(await ask('other', 5_000), 'here', 'also while the system still waits for them')
    silent.reject(new Error('over'))
  })

  it('is refused where a name has one inward beside one outward', async (t) => {
    for (const addresses of [['8.8.8.8', '10.0.0.1'], ['::ffff:127.0.0.1'], ['2606:4700::1111', 'fe80::1%eth0']]) {
      const door = opening(t, { lookup: names(addresses).lookup })
      await troubles(door.ask(get('https://both.example/'), text), 'blocked', /not allowed/)
    }
  })

  it('is looked at again at every redirect', async (t) => {
    const inside: string[] = []
    const { url: inward } = await listening(t, (request, response) => {
      inside.push(request.url ?? '')
      response.end('inside')
    })
    const outside = await bare(t, (socket) => {
      socket.on('data', (piece) => {
        const [, path = '/'] = piece.toString().split(' ')
        socket.write(
          `HTTP/1.1 302 Found\r\nlocation: ${decodeURIComponent(path.slice(1))}\r\ncontent-length: 0\r\n\r\n`,
        )
      })
    })
    const port = new URL(inward).port
    // One address of this machine stands for all that is outside; the others are inside.
    const lookup = async (): Promise<Resolved[]> => [{ address: '127.0.0.1', family: 4 }]
    const door = opening(t, { allowed: parseNetworks(['127.0.0.1']), lookup })
    for (const host of ['127.0.0.2', '2130706434', '[::1]', '169.254.169.254', '[::ffff:127.0.0.2]', '10.0.0.1']) {
      const to = `${outside}/${encodeURIComponent(`http://${host}:${port}/secret`)}`
      await troubles(door.ask({ ...get(to), redirectsMax: 5 }, text), 'blocked', /not allowed/)
    }
    assert.deepEqual(inside, [])
  })

  it('is asked without TLS on this machine alone, unless that is allowed', async (t) => {
    const { url } = await listening(t, (_request, response) => void response.end('here'))
    const door = opening(t, { plainHttp: false, allowed: loopback, lookup: names(['127.0.0.1']).lookup })
    const { port } = new URL(url)
    assert.equal(await door.ask(get(url), text), 'here')
    assert.equal(await door.ask(get(`http://localhost:${port}`), text), 'here')
    for (const host of ['127.0.0.2', 'inside.example', 'localhost.example'])
      await troubles(door.ask(get(`http://${host}:${port}`), text), 'blocked', /plain HTTP/)
  })

  it('is not asked in a transaction', async (t) => {
    const door = opening(t, { forbidden: () => true })
    await assert.rejects(door.ask(get('https://example.org'), text), /inside a database transaction \(I5\)/)
  })

  it('is told of with what was tried, and without what may be secret', async (t) => {
    const door = opening(t, { lookup: names(['10.0.0.7']).lookup })
    await assert.rejects(door.ask(get('https://hooks.example/secret?secret=1'), text), (error) => {
      assert.ok(error instanceof Error)
      assert.equal(
        error.message,
        'https://hooks.example (10.0.0.7, port 443): 10.0.0.7 is a private address, and that is not allowed',
      )
      return true
    })
    const unknown = opening(t, {
      lookup: () => Promise.reject(Object.assign(new Error('secret'), { code: 'ENOTFOUND' })),
    })
    await troubles(unknown.ask(get('https://nowhere.example'), text), 'network', /there is no such name/)
  })

  it('is looked at again whenever a line is connected anew', async (t) => {
    let asked = 0
    const url = await bare(t, (socket) => {
      socket.on('data', () => {
        asked += 1
        socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')
      })
    })
    const changing = names(['127.0.0.2'], ['127.0.0.1'])
    const door = opening(t, { allowed: parseNetworks(['127.0.0.1']), lookup: changing.lookup })
    const line = door.line(`http://changing.example:${new URL(url).port}/secret`)
    const post = () => line.post({ headers: {}, body: Buffer.from('{}'), answerMs: 2_000 })
    await troubles(post(), 'blocked', /127\.0\.0\.2 is this machine/)
    assert.deepEqual([await post(), await post()], [204, 204])
    assert.equal(changing.asked.length, 3)
    const plain = opening(t, { plainHttp: false, allowed: loopback, lookup: names(['127.0.0.1']).lookup })
    const named = plain.line(`http://inside.example:${new URL(url).port}`)
    await troubles(named.post({ headers: {}, body: Buffer.from('{}'), answerMs: 2_000 }), 'blocked', /plain HTTP/)
    const within = opening(t, { forbidden: () => true }).line('https://example.org')
    await assert.rejects(within.post({ headers: {}, body: Buffer.from('{}'), answerMs: 2_000 }), /\(I5\)/)
    assert.equal(asked, 2)
  })
})
