import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hostOf, pathOf, refuseWrongTarget } from './target.ts'

describe('the target of a request', () => {
  it('is a path, or a whole address, whose host counts then', () => {
    for (const [url, host, path] of [
      ['/a?b=http://evil.example/', 'in.the.header', '/a?b=http://evil.example/'],
      ['//evil.example/a', 'in.the.header', '//evil.example/a'],
      ['http://files.example:80/a?b', 'files.example:80', '/a?b'],
      ['HTTPS://[2001:db8::1]', '[2001:db8::1]', '/'],
      ['http://files.example?b=/c', 'files.example', '/?b=/c'],
      ['http://a@files.example/', 'a@files.example', '/'],
      ['http:///a', '', '/a'],
      ['*', 'in.the.header', '*'],
    ] as const) {
      refuseWrongTarget({ url })
      assert.deepEqual([hostOf({ url, headers: { host: 'in.the.header' } }), pathOf(url)], [host, path], url)
    }
  })

  it('is nothing else, and has no fragment', () => {
    for (const url of ['/a#b', '/a?b#', 'http://files.example/a#b', 'ftp://files.example/a', 'http:/a', 'a', '', '**'])
      assert.throws(() => refuseWrongTarget({ url }), { name: 'Failure', code: 'invalid_request' }, url)
  })
})
