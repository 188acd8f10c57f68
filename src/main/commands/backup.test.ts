import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { linesOf } from './backup.ts'

describe('the points of a vault', () => {
  const point = (id: string, vault: string, source = 's') => ({
    ...{ id, vault, source, snapshotAt: '2026-05-01T00:00:00Z', rows: 3 },
    blobs: { count: 2, bytes: 1 },
  })
  const linesFor = (...points: ReturnType<typeof point>[]): string[] =>
    linesOf('file:/vault', { points, unreadable: [] }, 'v')

  it('are a line each, with whose they are where somebody may not expect it', () => {
    assert.deepEqual(linesFor(), ['file:/vault holds no points.'])
    const one = 'one  2026-05-01T00:00:00Z  3 rows  2 files  1 bytes'
    assert.deepEqual(linesFor(point('one', 'v')), [one])
    const small = { ...point('one', 'v'), blobs: { count: 0, bytes: 0 } }
    assert.match(String(linesFor(small)[1]), /^Files that are small count as rows/)
    const [first, second, sources, strange] = linesFor(point('one', 'v'), point('two', 'w', 't'))
    assert.equal(first, `${one}  of s`)
    assert.match(String(second), /^two .* of t {2}of another vault$/)
    assert.match(String(sources), /more than one database/)
    assert.match(String(strange), /^1 were copied here from another vault/)
  })
})
