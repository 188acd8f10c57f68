import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { smallDownloadBytes } from '../../kernel/limits/downloads.ts'
import { resolveRange } from '../../kernel/range.ts'
import { isForProxy, type ReadByProxies } from './left-to-proxy.ts'

const bytes = 10 * smallDownloadBytes

const asked: ReadByProxies = {
  proxySends: true,
  range: undefined,
  ifRange: undefined,
  ifMatch: undefined,
  ifNoneMatch: undefined,
  ifModifiedSince: undefined,
  ifUnmodifiedSince: undefined,
}

const isLeft = (more: Partial<ReadByProxies> = {}, size = bytes, proxyFiles: string | null = '/files/'): boolean => {
  const request = { ...asked, ...more }
  const range = resolveRange(request.range, size)
  assert.notEqual(range, 'unsatisfiable')
  if (range === 'unsatisfiable') return false
  return isForProxy({ proxyFiles }, request, range, range === 'whole' ? size : range.end - range.start)
}

describe('a body is left to the proxy', () => {
  it('where it is large, the operator says so and the proxy does', () => {
    assert.equal(isLeft(), true)
    assert.equal(isLeft({}, smallDownloadBytes + 1), true)
    assert.equal(isLeft({}, smallDownloadBytes), false)
    assert.equal(isLeft({ proxySends: false }), false)
    assert.equal(isLeft({}, bytes, null), false)
  })

  it('in a range that all servers read alike, and that is large', () => {
    for (const range of ['bytes=0-', 'bytes=0-99999', 'bytes=100000-', 'bytes=-100000', 'Bytes=00-999999999999999'])
      assert.equal(isLeft({ range }), true, range)
    for (const range of [
      // Small.
      ...['bytes=0-99', 'bytes=-99', `bytes=0-${smallDownloadBytes - 1}`],
      // Others refuse these, or answer them in parts; we send the whole file.
      ...['bytes=0-1,5-6', 'bytes=9-1', 'bytes=', 'bytes=a-b', 'bytes =0-', 'lines=0-', 'bytes=0 - 5'],
      // Longer than what others count with.
      ...[`bytes=0-${'9'.repeat(20)}`, `bytes=-${'9'.repeat(16)}`, `bytes=${'0'.repeat(20)}-`],
    ])
      assert.equal(isLeft({ range }), false, range)
  })

  it('where the request depends on nothing: conditions are decided by us alone', () => {
    const etag = '"sha256:0"'
    const date = 'Sun, 22 Nov 2026 12:00:00 GMT'
    for (const condition of [
      { ifMatch: etag },
      { ifNoneMatch: etag },
      { ifModifiedSince: date },
      { ifUnmodifiedSince: date },
      { ifRange: etag },
      { ifRange: etag, range: 'bytes=0-' },
    ])
      assert.equal(isLeft(condition), false, JSON.stringify(condition))
  })
})
