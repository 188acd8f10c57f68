import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basePathOf, withoutBasePath } from './base-path.ts'

describe('the base path', () => {
  test('is that of the address, without a slash at its end', () => {
    assert.equal(basePathOf(null), '')
    assert.equal(basePathOf('https://files.example.org'), '')
    assert.equal(basePathOf('https://example.org/svc'), '/svc')
    assert.equal(basePathOf('https://example.org/%73vc%20x/'), '/svc%20x')
    assert.equal(basePathOf('https://example.org:8443/tools/svc'), '/tools/svc')
  })

  test('is taken off a target, whichever form that has', () => {
    for (const [target, rest] of [
      ['/svc/api/v1/me', '/api/v1/me'],
      ['/svc/a%2Fb//c?x=/svc/', '/a%2Fb//c?x=/svc/'],
      ['/svc', '/'],
      ['/svc/', '/'],
      ['/svc?x', '/?x'],
      ['/svc/svc/a', '/svc/a'],
      ['http://example.org/svc/a', 'http://example.org/a'],
      ['http://example.org/svc', 'http://example.org/'],
    ] as const)
      assert.equal(withoutBasePath(target, '/svc'), rest, target)
  })

  test('leaves targets without it as they are', () => {
    for (const target of ['/api/v1/me', '/svcs/a', '/SVC/a', '/a/svc/b', '/%73vc/a', '*', '/', '//svc/a', '/svc%2Fa'])
      assert.equal(withoutBasePath(target, '/svc'), target, target)
    assert.equal(withoutBasePath('/svc/a', ''), '/svc/a')
  })
})
