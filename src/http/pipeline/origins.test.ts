import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../kernel/failure.ts'
import { checkOrigin } from './origins.ts'

const own = 'http://127.0.0.1:8080'
const allowed = new Set(['https://pages.example.org'])

describe('checkOrigin', () => {
  it('lets requests without an origin and from our own pages pass without a header', () => {
    assert.equal(checkOrigin(undefined, own, allowed), null)
    assert.equal(checkOrigin(own, own, new Set()), null)
  })

  it('tells a listed origin, and no other, that it may read the answer', () => {
    const headers = checkOrigin('https://pages.example.org', own, allowed)
    assert.equal(headers?.['access-control-allow-origin'], 'https://pages.example.org')
    assert.ok(!Object.keys(headers ?? {}).includes('access-control-allow-credentials'))
  })

  it('refuses everything else, however close', () => {
    for (const origin of [
      '',
      'null',
      '*',
      'https://pages.example.org/',
      'https://pages.example.org.evil.example',
      'http://pages.example.org',
      'http://127.0.0.1:80801',
      'http://127.0.0.1',
    ])
      assert.throws(
        () => checkOrigin(origin, own, allowed),
        (error: unknown) => error instanceof Failure && error.code === 'origin_not_allowed' && error.status === 403,
        origin,
      )
  })
})
