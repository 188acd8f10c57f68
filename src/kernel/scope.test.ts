import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OwningScope } from './scope.ts'

describe('a scope', () => {
  const scene = () => {
    const told: string[] = []
    const scope = new OwningScope((error) => told.push(`failed: ${error}`))
    const own = (what: string) => scope.own(() => void told.push(what))
    return { scope, told, own }
  }

  it('gives everything back at its end, the last first, each once', () => {
    const { scope, told, own } = scene()
    own('first')
    const release = own('second')
    own('third')
    release()
    release()
    assert.deepEqual(told, ['second'])
    assert.equal(scope.over, false)
    scope.end()
    scope.end()
    assert.deepEqual(told, ['second', 'third', 'first'])
    assert.equal(scope.over, true)
  })

  it('may have things given back sooner in any order', () => {
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'a', 'b'],
      ['b', 'c', 'a'],
      ['b', 'a', 'c'],
    ]) {
      const { scope, told, own } = scene()
      const releases = new Map(['a', 'b', 'c'].map((what) => [what, own(what)]))
      for (const what of order.slice(0, 2)) releases.get(what)?.()
      own('d')
      scope.end()
      assert.deepEqual(told, [...order.slice(0, 2), 'd', ...order.slice(2)])
    }
  })

  it('that is over gives back at once what is taken for it', () => {
    const { scope, told, own } = scene()
    scope.end()
    own('late')()
    assert.deepEqual(told, ['late'])
  })

  it('gives back what is taken while it ends', () => {
    const { scope, told, own } = scene()
    scope.own(() => void own('taken meanwhile'))
    scope.end()
    assert.deepEqual(told, ['taken meanwhile'])
  })

  it('reports what fails, and gives back the rest', async () => {
    const { scope, told, own } = scene()
    own('rest')
    scope.own(() => {
      throw new Error('at once')
    })
    scope.own(() => Promise.reject(new Error('later')))
    scope.end()
    assert.ok(told.includes('rest'))
    await new Promise(setImmediate)
    assert.deepEqual(told.sort(), ['failed: Error: at once', 'failed: Error: later', 'rest'])
  })
})
