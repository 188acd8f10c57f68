import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, beforeEach, describe, it } from 'node:test'
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import { until } from './until.ts'

describe('a proxy that a test steers', () => {
  /** What reached the store, which answers the body. */
  const stored: string[] = []
  const store = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) => {
      stored.push(`${incoming.method} ${incoming.url} ${body}`)
      outgoing.writeHead(201).end(`stored ${body}`)
    })
  })
  let proxy: FaultyProxy
  before(async () => {
    store.listen(0, '127.0.0.1')
    await once(store, 'listening')
    proxy = await startFaultyProxy(`http://key:secret@127.0.0.1:${(store.address() as AddressInfo).port}`)
  })
  beforeEach(() => {
    stored.length = 0
    proxy.held.length = 0
  })
  after(async () => {
    await proxy.close()
    store.closeAllConnections()
    store.close()
  })

  const put = (path: string, body: string, signal: AbortSignal | null = null): Promise<Response> =>
    fetch(new URL(path, `http://${new URL(proxy.url).host}`), { method: 'PUT', body, signal })

  it('applies late what its sender did not live to see, in another order', async () => {
    proxy.fault = ({ target }) => (target === '/late' ? { kind: 'hold' } : null)
    const dead = new AbortController()
    const first = assert.rejects(put('/late', 'one', dead.signal))
    const [held] = await proxy.holds()
    dead.abort()
    await first
    assert.equal((await put('/other', 'two')).status, 201)
    assert.deepEqual(await held?.apply(), { status: 201, body: 'stored one' })
    assert.deepEqual(stored, ['PUT /other two', 'PUT /late one'])
  })

  it('answers whoever still waits', async () => {
    proxy.fault = () => ({ kind: 'hold' })
    const waiting = put('/late', 'one')
    await (await proxy.holds())[0]?.apply()
    assert.equal(await (await waiting).text(), 'stored one')
  })

  it('repeats', async () => {
    proxy.fault = () => ({ kind: 'repeat' })
    assert.equal((await put('/again', 'one')).status, 201)
    await proxy.held[0]?.apply()
    assert.deepEqual(stored, ['PUT /again one', 'PUT /again one'])
  })

  it('denies what was done', async () => {
    proxy.fault = () => ({ kind: 'deny', status: 500, body: 'never' })
    const told = await put('/denied', 'one')
    assert.deepEqual([told.status, await told.text(), stored], [500, 'never', ['PUT /denied one']])
  })

  it('forwards after a while, also for the dead', async () => {
    proxy.fault = () => ({ kind: 'delay', ms: 1 })
    assert.equal((await put('/slow', 'one')).status, 201)
  })

  it('loses an answer, or cuts it', async () => {
    for (const fault of [{ kind: 'lose' }, { kind: 'cut', afterBytes: 2 }] as const) {
      proxy.fault = () => fault
      await assert.rejects(async () => (await put('/lost', 'one')).text())
    }
    assert.equal(stored.length, 2)
  })

  it('falls silent in the middle of an answer', async () => {
    proxy.fault = () => ({ kind: 'cut', afterBytes: 2, silently: true })
    const gone = new AbortController()
    const told = await put('/silent', 'one', gone.signal)
    const reader = told.body?.getReader()
    assert.equal(new TextDecoder().decode((await reader?.read())?.value), 'st')
    const more = reader?.read()
    await until('the store has answered in full', () => stored.length === 1)
    gone.abort()
    await assert.rejects(async () => more)
  })
})
