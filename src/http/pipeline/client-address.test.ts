import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { clientFacts, parseTrustedProxies } from './client-address.ts'

const request = (remoteAddress: string | undefined, headers: Record<string, string> = {}): IncomingMessage =>
  // Only these two parts of a request are looked at.
  ({ socket: { remoteAddress }, headers: { host: 'inside:8080', ...headers } }) as unknown as IncomingMessage

const proxies = parseTrustedProxies(['10.0.0.0/8', '127.0.0.1', 'fd00::/8', '::1'])
const addressOf = (peer: string, chain: string): string =>
  clientFacts(request(peer, { 'x-forwarded-for': chain }), proxies, null).clientAddress

describe('a proxy that sends files', () => {
  const says = { 'x-sendfile-type': 'X-Accel-Redirect' }
  const sends = (peer: string, headers: Record<string, string>): boolean =>
    clientFacts(request(peer, headers), proxies, null).proxySends

  it('says so, and is trusted', () => {
    assert.equal(sends('127.0.0.1', says), true)
    assert.equal(sends('10.1.2.3', { ...says, 'x-forwarded-for': '203.0.113.9' }), true)
    assert.equal(sends('192.0.2.1', says), false)
    assert.equal(sends('192.0.2.1', { ...says, 'x-forwarded-for': '127.0.0.1' }), false)
    assert.equal(sends('127.0.0.1', {}), false)
    assert.equal(sends('127.0.0.1', { 'x-sendfile-type': 'X-Sendfile' }), false)
    assert.equal(clientFacts(request('127.0.0.1', says), [], null).proxySends, false)
  })

  it('says that it could not, and is trusted', () => {
    const failed = { 'x-sendfile-type': 'failed' }
    assert.equal(sends('127.0.0.1', failed), false)
    assert.equal(clientFacts(request('127.0.0.1', failed), proxies, null).proxyFailed, true)
    assert.equal(clientFacts(request('127.0.0.1', says), proxies, null).proxyFailed, false)
    assert.equal(clientFacts(request('192.0.2.1', failed), proxies, null).proxyFailed, false)
  })
})

describe('clientFacts', () => {
  it('believes the connection, and headers only from trusted proxies', () => {
    assert.equal(
      clientFacts(request('192.0.2.1', { 'x-forwarded-for': '203.0.113.9' }), proxies, null).clientAddress,
      '192.0.2.1',
    )
    assert.equal(
      clientFacts(request('127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }), [], null).clientAddress,
      '127.0.0.1',
    )
    assert.equal(addressOf('127.0.0.1', '203.0.113.9'), '203.0.113.9')
    assert.equal(addressOf('::ffff:10.1.2.3', '203.0.113.9'), '203.0.113.9')
    assert.equal(addressOf('fd00::5', '2001:db8::1'), '2001:db8::1')
    assert.equal(clientFacts(request('::ffff:192.0.2.1'), proxies, null).clientAddress, '192.0.2.1')
    assert.equal(clientFacts(request(undefined), proxies, null).clientAddress, '')
  })

  it('takes the last hop that is no proxy, so that nobody can write their own', () => {
    assert.equal(addressOf('10.0.0.1', '1.1.1.1, 203.0.113.9'), '203.0.113.9')
    assert.equal(addressOf('10.0.0.1', '1.1.1.1, 203.0.113.9, 10.9.9.9, fd00::1'), '203.0.113.9')
    assert.equal(addressOf('10.0.0.1', '203.0.113.9, garbage, 10.9.9.9'), '10.0.0.1')
    assert.equal(addressOf('10.0.0.1', '10.2.2.2, 10.3.3.3'), '10.0.0.1')
    assert.equal(addressOf('10.0.0.1', ''), '10.0.0.1')
    assert.equal(addressOf('10.0.0.1', ' , '), '10.0.0.1')
  })

  it('takes the address out of a hop that says its port as well, or is quoted', () => {
    for (const hop of [
      '203.0.113.7',
      '203.0.113.7:1234',
      '"203.0.113.7:1234"',
      '"203.0.113.7"',
      '[::ffff:203.0.113.7]:1',
    ])
      for (const chain of [hop, `1.1.1.1, ${hop}`, `${hop},10.9.9.9:443 , [fd00::1]:8080`])
        assert.equal(addressOf('10.0.0.1', chain), '203.0.113.7', chain)
    for (const hop of ['2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:1234', '"[2001:db8::1]:1234"', '"[2001:db8::1]"'])
      for (const chain of [hop, `1.1.1.1, ${hop}`, `${hop}, "10.9.9.9:443"`])
        assert.equal(addressOf('10.0.0.1', chain), '2001:db8::1', chain)
    // Without brackets nobody knows where a port would begin.
    assert.equal(addressOf('10.0.0.1', '2001:db8::1:1234'), '2001:db8::1:1234')
  })

  it('takes nothing out of what two readers would read differently', () => {
    for (const hop of [
      'unknown',
      '_hidden:80',
      '203.0.113.7:',
      '203.0.113.7:123456',
      '203.0.113.7:80:80',
      '"203.0.113.7',
      '203.0.113.7"',
      '[203.0.113.7]:80',
      '[2001:db8::1',
      '2001:db8::1]:80',
      '[2001:db8::1]x',
      '[[2001:db8::1]]',
      '010.0.0.1',
      '0x7f.0.0.1',
      '3405803783',
      '203.0.113',
    ])
      assert.equal(addressOf('10.0.0.1', `203.0.113.9, ${hop}`), '10.0.0.1', hop)
  })

  it('tells one client by one spelling', () => {
    assert.equal(addressOf('10.0.0.1', '::ffff:203.0.113.9'), '203.0.113.9')
    assert.equal(addressOf('10.0.0.1', '2001:DB8:0:0::1'), addressOf('10.0.0.1', '2001:db8::1'))
  })

  it('knows under which address the client reached us', () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil, files.example.org' }
    assert.equal(clientFacts(request('10.0.0.1', forwarded), proxies, null).baseUrl, 'https://files.example.org')
    assert.equal(clientFacts(request('192.0.2.1', forwarded), proxies, null).baseUrl, 'http://inside:8080')
    assert.equal(clientFacts(request('192.0.2.1', forwarded), proxies, 'https://set').baseUrl, 'https://set')
    assert.equal(
      clientFacts(request('10.0.0.1', { 'x-forwarded-proto': 'gopher' }), proxies, null).baseUrl,
      'http://inside:8080',
    )
  })
})

describe('parseTrustedProxies', () => {
  it('names the entry that is wrong', () => {
    for (const entry of ['10.0.0.0/33', 'localhost', '10.0.0.0/', 'fd00::/129', '*', '10.0.0.0/8/8'])
      assert.throws(() => parseTrustedProxies(['127.0.0.1', entry]), {
        name: 'RangeError',
        message: `${JSON.stringify(entry)} is no address range; write it like 10.0.0.0/8`,
      })
  })
})
