import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { isUnmistakable, refuseWrongHost } from './hosts.ts'

/** A request with these header lines, as Node tells of them: of those that stand once it keeps the first. */
const request = (lines: readonly (readonly [string, string])[], httpVersion = '1.1') => {
  const headers: Record<string, string> = {}
  for (const [name, value] of lines) headers[name.toLowerCase()] ??= value
  return Object.assign(new IncomingMessage(new Socket()), { headers, rawHeaders: lines.flat(), httpVersion })
}
const anywhere = { onLoopback: false, fromProxy: false, baseUrl: null }
const here = { onLoopback: true, fromProxy: false, baseUrl: null }
const code = { name: 'Failure', code: 'invalid_request' }
const host = (value: string) => request([['Host', value]])

describe('the Host of a request', () => {
  it('is a name or an address, and stands once', () => {
    for (const good of ['files.example.org', 'files:8080', '192.0.2.1:1', '[2001:db8::1]:443', 'A_b-c.example.'])
      refuseWrongHost(host(good), anywhere)
    for (const bad of ['', ' ', 'a b', 'a/b', 'a@b', 'a:', 'a:x', 'a:999999', 'a,b', '[::1', '::1', 'a?b', '.a', 'ä'])
      assert.throws(() => refuseWrongHost(host(bad), anywhere), code, bad)
    const twice = (name: string, value: string) =>
      request([
        ['Host', 'files'],
        [name, value],
        [name.toUpperCase(), value],
      ])
    for (const name of ['host', 'authorization', 'content-type', 'origin', 'range', 'content-md5', 'idempotency-key'])
      assert.throws(() => refuseWrongHost(twice(name, 'files'), anywhere), code, name)
    refuseWrongHost(twice('Accept', '*/*'), anywhere)
    assert.throws(() => refuseWrongHost(request([]), anywhere), code)
    refuseWrongHost(request([], '1.0'), anywhere)
  })

  it('names this machine where the service listens on loopback, or what the setting says', () => {
    for (const good of ['localhost', 'LOCALHOST:8080', 'svc.localhost', '127.0.0.1:80', '127.9.9.9', '[::1]:8080'])
      refuseWrongHost(host(good), here)
    for (const bad of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1', '[::2]'])
      assert.throws(() => refuseWrongHost(host(bad), here), code, bad)
    refuseWrongHost(host('Files.Example:8443'), { ...here, baseUrl: 'https://files.example:8443' })
    assert.throws(
      () => refuseWrongHost(host('files.example'), { ...here, baseUrl: 'https://files.example:8443' }),
      code,
    )
  })

  it('is that of the target where this is a whole address', () => {
    const asked = (url: string, headers = 'localhost') => Object.assign(host(headers), { url })
    refuseWrongHost(asked('http://localhost:80/health/live', 'evil.example'), here)
    for (const url of ['http://evil.example/', 'HTTP://evil.example:80', 'http://localhost@evil.example/', 'http:///a'])
      assert.throws(() => refuseWrongHost(asked(url), here), code, url)
    for (const url of ['http://a b/', 'http://a@b/', 'http:///a', 'http://a:/'])
      assert.throws(() => refuseWrongHost(asked(url), anywhere), code, url)
    assert.throws(() => refuseWrongHost(asked('http://localhost/', 'a/b'), here), code)
    assert.throws(() => refuseWrongHost(Object.assign(request([]), { url: 'http://localhost/' }), here), code)
  })

  it('is the business of a proxy that is trusted, whose word has to be a host as well', () => {
    const proxied = (forwarded: string) =>
      request([
        ['Host', 'files.example'],
        ['X-Forwarded-Host', forwarded],
      ])
    refuseWrongHost(proxied('files.example:443'), { ...here, fromProxy: true })
    assert.throws(() => refuseWrongHost(proxied('files.example/<b>'), { ...here, fromProxy: true }), code)
    refuseWrongHost(proxied('<b>'), anywhere)
  })

  it('cannot be pretended where it is an address or a name of this machine', () => {
    for (const sure of ['192.0.2.1:8080', '[2001:db8::1]', 'localhost:1', 'a.localhost'])
      assert.ok(isUnmistakable(sure))
    for (const unsure of ['files', 'evil.example', '192.0.2.1.evil.example', 'a b', ''])
      assert.ok(!isUnmistakable(unsure), unsure)
  })
})
