import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Wire, wireAt } from './wire.ts'

const wire = (name: string, prefix: string): Wire => ({
  name,
  prefix,
  credentialOf: () => null,
  render: ({ status, message }) => ({ status, headers: {}, text: message }),
})

describe('a path', () => {
  it('belongs to the wire with the longest prefix, by whole segments', () => {
    const wires = [wire('images', '/v2'), wire('large', '/v2/large'), wire('packages', '/npm')]
    const at = (path: string): string => wireAt(wires, path, wire('rest', '')).name
    assert.deepEqual(['/v2', '/v2/', '/v2?x', '/v2/a/blobs'].map(at), ['images', 'images', 'images', 'images'])
    assert.deepEqual(['/v2/large', '/v2/large/x', '/v2/larger'].map(at), ['large', 'large', 'images'])
    assert.deepEqual(['/', '/v20', '/api/v2/', '/npmx', '*'].map(at), ['rest', 'rest', 'rest', 'rest', 'rest'])
    assert.equal(at('/npm/name'), 'packages')
  })
})
