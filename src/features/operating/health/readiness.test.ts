import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { watchReadiness } from './readiness.ts'

const scene = () => {
  const state = { now: 5_000, looks: 0, away: false, draining: false }
  const readiness = watchReadiness({
    dependencies: [
      {
        what: 'The thing',
        probe: async () => {
          state.looks += 1
          if (state.away) throw new Error('away')
        },
      },
    ],
    clock: { now: () => state.now },
    isDraining: () => state.draining,
  })
  return { state, readiness }
}

describe('readiness', () => {
  it('believes one look for a second, good or bad', async () => {
    const { state, readiness } = scene()
    await Promise.all([readiness.refuseUnlessReady(), readiness.refuseUnlessReady()])
    state.now += 999
    state.away = true
    await readiness.refuseUnlessReady()
    assert.equal(state.looks, 1)
    state.now += 1
    await assert.rejects(readiness.refuseUnlessReady(), { code: 'unavailable', message: 'The thing does not answer.' })
    state.away = false
    state.now += 999
    await assert.rejects(readiness.refuseUnlessReady(), { code: 'unavailable' })
    assert.equal(state.looks, 2)
    state.now += 1
    await readiness.refuseUnlessReady()
  })

  it('looks again when the clock was set back', async () => {
    const { state, readiness } = scene()
    await readiness.refuseUnlessReady()
    state.now = 1
    await readiness.refuseUnlessReady()
    assert.equal(state.looks, 2)
  })

  it('says that it drains without a look', async () => {
    const { state, readiness } = scene()
    state.draining = true
    await assert.rejects(readiness.refuseUnlessReady(), { code: 'draining', retryAfterSeconds: 5 })
    assert.equal(state.looks, 0)
  })
})
