import assert from 'node:assert/strict'
import https from 'node:https'
import net from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { type Identity, type SmallAuthority, smallAuthority } from '../../../test/harness/small-authority.ts'
import { get, text, troubles } from '../../ports/outbound-http.suite.ts'
import type { OutboundLine } from '../../ports/outbound-http.ts'
import { listening, opened } from '../../ports/outbound-servers.suite.ts'
import { parseNetworks } from './networks.ts'
import { openOutboundHttp } from './outbound-fetch.ts'
import { proxyThrough, readProxies } from './proxies.ts'

const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
const opening = (
  t: TestContext,
  authorities: readonly string[],
  environment: Record<string, string> = {},
  connectMs = 2_000,
  plainHttp = false,
) => {
  const allowed = parseNetworks(['127.0.0.0/8'])
  const proxyFor = proxyThrough(readProxies(environment))
  const door = openOutboundHttp({ allowed, authorities, proxyFor, userAgent: 'svc/test', lookup, connectMs, plainHttp })
  t.after(() => door[Symbol.asyncDispose]())
  return door
}

/** The port of a server with this certificate. */
const secured = async (t: TestContext, identity: Identity, options: https.ServerOptions = {}): Promise<string> => {
  const server = https.createServer({ ...identity, ...options }, (request, response) => {
    response.end(`${request.headers.host?.split(':')[0]} ${request.url}`)
  })
  server.on('tlsClientError', () => undefined)
  return new URL(await opened(t, server)).port
}

/** A proxy that leads on to this machine, whatever the host; it writes down what it was asked for. */
const proxying = async (t: TestContext, refuses = false): Promise<{ port: string; asked: string[] }> => {
  const asked: string[] = []
  const { url } = await listening(
    t,
    (request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
      response.end('by the proxy')
    },
    (server) => {
      server.on('connect', (request, socket) => {
        asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
        socket.on('error', () => undefined)
        if (refuses) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
        const onward = net.connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 Connected\r\n\r\n')
          onward.pipe(socket).pipe(onward)
        })
        onward.on('error', () => socket.destroy())
      })
    },
  )
  return { port: new URL(url).port, asked }
}

describe('the certificate of who is asked', () => {
  const authority = async (t: TestContext): Promise<SmallAuthority> => smallAuthority(t)

  it('is believed where its authority was added, for the host that was asked for', async (t) => {
    const own = await authority(t)
    const port = await secured(t, await own.issue(['good.example', '127.0.0.1']))
    const door = opening(t, [own.certificate])
    assert.equal(await door.ask(get(`https://good.example:${port}/a`), text), 'good.example /a')
    assert.equal(await door.ask(get(`https://127.0.0.1:${port}/b`), text), '127.0.0.1 /b')
    await troubles(door.ask(get(`https://other.example:${port}`), text), 'tls', /is for another host/)
    const named = await secured(t, await own.issue(['good.example']))
    await troubles(door.ask(get(`https://127.0.0.1:${named}`), text), 'tls', /is for another host/)
  })

  it('is refused where nobody known signed it, where it is over, and where the host has none', async (t) => {
    const own = await authority(t)
    const door = opening(t, [own.certificate])
    const strict = opening(t, [])
    const ask = (port: string, by = door) => by.ask(get(`https://good.example:${port}/secret`), text)
    const good = await secured(t, await own.issue(['good.example']))
    await troubles(ask(good, strict), 'tls', /authority that is not known/)
    await troubles(ask(await secured(t, await own.issue(['good.example'], 'expired'))), 'tls', /has expired/)
    await troubles(ask(await secured(t, await own.selfSigned('good.example'))), 'tls', /signed by itself/)
    await troubles(ask(await secured(t, await (await authority(t)).issue(['good.example']))), 'tls', /not known/)
    const { url } = await listening(t, (_request, response) => void response.end())
    await troubles(ask(new URL(url).port), 'tls', /does not speak TLS/)
    const old = await secured(t, await own.issue(['good.example']), {
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    await troubles(ask(old), 'tls', /./)
  })

  it('is verified although a variable says that none need be', async (t) => {
    const own = await authority(t)
    const port = await secured(t, await own.selfSigned('good.example'))
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    t.after(() => {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    })
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const door = opening(t, [])
    await troubles(door.ask(get(`https://good.example:${port}`), text), 'tls', /signed by itself/)
  })

  it('is waited for no longer than a connection', async (t) => {
    const server = net.createServer((socket) => void socket.on('error', () => undefined))
    const port = new URL(await opened(t, server)).port
    const door = opening(t, [], {}, 150)
    await troubles(door.ask(get(`https://127.0.0.1:${port}`), text), 'timeout', /nobody took the connection/)
  })
})

const post = (line: OutboundLine): Promise<number> =>
  line.post({ headers: {}, body: Buffer.from('{}'), answerMs: 5_000 })

describe('a line', () => {
  it('is encrypted, and its certificate is verified', async (t) => {
    const own = await smallAuthority(t)
    const port = await secured(t, await own.issue(['good.example']))
    const door = opening(t, [own.certificate])
    const line = door.line(`https://good.example:${port}/a`)
    assert.deepEqual([await post(line), await post(line)], [200, 200])
    await troubles(post(door.line(`https://other.example:${port}`)), 'tls', /is for another host/)
    await troubles(post(opening(t, []).line(`https://good.example:${port}`)), 'tls', /authority that is not known/)
    const expired = await secured(t, await own.issue(['good.example'], 'expired'))
    await troubles(post(door.line(`https://good.example:${expired}`)), 'tls', /has expired/)
    const { url } = await listening(t, (_request, response) => void response.end())
    await troubles(post(door.line(url.replace('http:', 'https:'))), 'tls', /does not speak TLS/)
    const silent = net.createServer((socket) => void socket.on('error', () => undefined))
    const hanging = opening(t, [], {}, 150).line((await opened(t, silent)).replace('http:', 'https:'))
    await troubles(post(hanging), 'timeout', /nobody took the connection/)
  })

  it('goes through a proxy, with TLS from end to end', async (t) => {
    const own = await smallAuthority(t)
    const port = await secured(t, await own.issue(['good.example']))
    const { port: through, asked } = await proxying(t)
    const door = opening(t, [own.certificate], { https_proxy: `http://me:secret@127.0.0.1:${through}` })
    const line = door.line(`https://good.example:${port}/a`)
    assert.deepEqual([await post(line), await post(line)], [200, 200])
    assert.equal(asked.length, 1)
    await troubles(post(door.line('https://10.0.0.1/')), 'blocked', /not allowed/)
  })
})

describe('a proxy', () => {
  it('leads to what is not here, with TLS from end to end, and is told the name', async (t) => {
    const own = await smallAuthority(t)
    const port = await secured(t, await own.issue(['good.example']))
    const { port: through, asked } = await proxying(t)
    const door = opening(t, [own.certificate], { https_proxy: `http://me:secret@127.0.0.1:${through}` })
    assert.equal(await door.ask(get(`https://good.example:${port}/a`), text), 'good.example /a')
    const credential = Buffer.from('me:secret').toString('base64')
    assert.deepEqual(asked, [`CONNECT good.example:${port} Basic ${credential}`])
    await troubles(door.ask(get(`https://other.example:${port}/a`), text), 'tls', /for another host/)
  })

  it('is not asked for this machine, for hosts that are excepted, and for addresses that are out of bounds', async (t) => {
    const own = await smallAuthority(t)
    const port = await secured(t, await own.issue(['good.example', '127.0.0.1']))
    const { port: through, asked } = await proxying(t)
    const environment = { HTTPS_PROXY: `127.0.0.1:${through}`, NO_PROXY: `other.example, .example:${port}` }
    const door = opening(t, [own.certificate], environment)
    assert.equal(await door.ask(get(`https://good.example:${port}/a`), text), 'good.example /a')
    assert.equal(await door.ask(get(`https://127.0.0.1:${port}/b`), text), '127.0.0.1 /b')
    for (const host of ['10.0.0.1', '[fd00:ec2::254]', '169.254.169.254', '167772161', '[::ffff:10.0.0.1]'])
      await troubles(door.ask(get(`https://${host}/`), text), 'blocked', /not allowed/)
    assert.deepEqual(asked, [])
  })

  it('is asked without TLS for what is outside alone, where that is allowed', async (t) => {
    const { port: through, asked } = await proxying(t)
    const door = opening(t, [], { HTTP_PROXY: `http://127.0.0.1:${through}` }, 2_000, true)
    const line = (url: string): Promise<number> => post(door.line(url))
    assert.equal(await door.ask(get('http://good.example/a'), text), 'by the proxy')
    assert.equal(await line('http://good.example/b'), 200)
    assert.deepEqual(asked.splice(0), ['GET http://good.example/a', 'POST http://good.example/b'])
    for (const host of ['10.0.0.1', '[fd00:ec2::254]', '169.254.169.254', '167772161', '[64:ff9b::a00:1]']) {
      await troubles(door.ask(get(`http://${host}/`), text), 'blocked', /not allowed/)
      await troubles(line(`http://${host}/`), 'blocked', /not allowed/)
    }
    assert.deepEqual(asked, [])
  })

  it('says no, and that is told with its name and without its password', async (t) => {
    const { port: through } = await proxying(t, true)
    const door = opening(t, [], { HTTPS_PROXY: `http://me:secret@localhost:${through}` })
    await assert.rejects(door.ask(get('https://good.example/'), text), {
      message: `https://good.example (port 443, through the proxy localhost:${through}): the proxy answers 403`,
      trouble: 'network',
    })
  })

  it('is chosen by the variables that others read as well', () => {
    const chosen = (environment: Record<string, string>, url: string): string | null => {
      const proxy = proxyThrough(readProxies(environment))(new URL(url))
      return proxy === null ? null : `${proxy.tls ? 'https' : 'http'} ${proxy.host} ${proxy.port}`
    }
    const both = { HTTP_PROXY: 'http://plain:3128', HTTPS_PROXY: 'https://[fd00::7]:3129' }
    assert.equal(chosen(both, 'http://example.org'), 'http plain 3128')
    assert.equal(chosen(both, 'https://example.org'), 'https fd00::7 3129')
    assert.equal(chosen({ ...both, https_proxy: 'small' }, 'https://example.org'), 'http small 80')
    assert.equal(chosen({}, 'https://example.org'), null)
    for (const here of ['localhost', 'a.localhost', '127.0.0.1', '127.8.8.8', '[::1]', '[::ffff:127.0.0.1]'])
      assert.equal(chosen(both, `https://${here}`), null, here)
    const excepted = (entry: string, url: string): boolean => chosen({ ...both, NO_PROXY: entry }, url) === null
    for (const entry of ['*', 'example.org', '.example.org', '*.example.org', 'a, EXAMPLE.ORG', 'example.org:443'])
      assert.equal(excepted(entry, 'https://sub.example.org'), true, entry)
    assert.equal(excepted('10.0.0.0/8,[fd00::]/8', 'https://10.2.3.4'), true)
    assert.equal(excepted('fd00::/8', 'https://[fd00::9]'), true)
    for (const entry of ['ample.org', 'example.org:8443', '10.0.0.0/8', 'example.com', ''])
      assert.equal(excepted(entry, 'https://example.org'), false, entry)
    for (const wrong of ['ftp://proxy', 'http://', 'socks5://secret'])
      assert.throws(
        () => readProxies({ HTTPS_PROXY: wrong }),
        /^RangeError: HTTPS_PROXY: it is no address of a proxy; [^s]*$/,
        wrong,
      )
    for (const wrong of ['http://100%:Tr0ub4dor@proxy', 'http://me:Tr0ub4dor%ff@proxy'])
      assert.throws(
        () => readProxies({ HTTPS_PROXY: wrong }),
        /^RangeError: HTTPS_PROXY: its user name or password cannot be read; write a percent sign as %25$/,
        wrong,
      )
  })
})
