import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OwningScope } from '../../kernel/scope.ts'
import { HeldBodies } from './held-bodies.ts'

describe('small bodies that are held', () => {
  const scene = () => {
    const held = new HeldBodies(100)
    const cut: string[] = []
    const come = (name: string, caller: string, bytes: number) => {
      const scope = new OwningScope((error) => assert.ifError(error))
      const body = held.hold(scope, caller)
      const seat = body.comes((failure) => {
        assert.equal(failure.code, 'busy')
        cut.push(name)
      })
      seat.received(bytes)
      return { scope, body, seat }
    }
    return { held, cut, come }
  }

  it('are cut when there are too many bytes of them: the largest that comes, of whoever holds most', () => {
    const { held, cut, come } = scene()
    come('a first', 'a', 20)
    come('b first', 'b', 25)
    come('b second', 'b', 30)
    come('c first', 'c', 20)
    assert.deepEqual(cut, [])
    come('c second', 'c', 10)
    assert.deepEqual(cut, ['b second'])
    assert.equal(held.bytes, 75)
  })

  it('count as they come, and no more once they are answered', () => {
    const { held, cut, come } = scene()
    for (let count = 0; count < 50; count++) {
      const { scope, seat } = come(`${count}`, 'a', 40)
      seat.received(50)
      assert.equal(held.bytes, 90)
      scope.end()
    }
    assert.deepEqual([held.bytes, cut], [0, []])
  })

  it('are left to whoever works with them, and whoever comes then waits', () => {
    const { held, cut, come } = scene()
    const { body, scope } = come('here', 'a', 90)
    body.isHere()
    come('late', 'b', 20)
    assert.deepEqual(cut, ['late'])
    scope.end()
    come('again', 'b', 20)
    assert.deepEqual([held.bytes, cut], [20, ['late']])
  })
})
