import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue } from '../catalogue.ts'
import { slices } from '../slices.ts'
import { baseUrl, ownSegments } from './base-url.ts'

test('a base path begins with no segment that the service answers under', () => {
  const paths = [...catalogue(), ...slices.flatMap(({ wire }) => (wire ? [{ path: wire.prefix }] : []))]
  const first = new Set(paths.map(({ path }) => path.split('/')[1] ?? '').filter((each) => each !== ''))
  for (const segment of first) {
    assert.ok(
      ownSegments.some((own) => own === segment),
      segment,
    )
    assert.throws(() => baseUrl(`https://example.org/${segment}`), RangeError)
  }
})
