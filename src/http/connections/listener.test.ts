import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { Lingering } from './lingering.ts'
import { Listener } from './listener.ts'

describe('the server of a listener', () => {
  const deps = { trustedProxies: [], reportBug: (error: unknown) => assert.ifError(error) }
  const server = new Listener(deps, new Lingering()).serverFor(() => {})
  after(() => server.close())

  it('gives a request as long as it comes: a file of many gigabytes takes longer than the five minutes of Node', () => {
    assert.equal(server.requestTimeout, 0)
  })

  it('gives the head of a request half a minute, and a connection on which nothing moves a whole one', () => {
    assert.deepEqual([server.headersTimeout, server.timeout], [30_000, 60_000])
  })
})
