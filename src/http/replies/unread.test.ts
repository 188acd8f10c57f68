import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Unread } from './unread.ts'

describe('answers that are not taken', () => {
  const scene = () => {
    const unread = new Unread(100)
    const cut: string[] = []
    const hold = (name: string, network: string, bytes: number): (() => void) =>
      unread.hold(network, bytes, () => cut.push(name))
    return { unread, cut, hold }
  }

  it('are cut when there are too many bytes of them, the oldest of the network that holds most', () => {
    const { unread, cut, hold } = scene()
    hold('a first', 'a', 30)
    hold('b first', 'b', 30)
    hold('b second', 'b', 35)
    hold('c first', 'c', 15)
    assert.deepEqual(cut, ['b first'])
    hold('c second', 'c', 40)
    assert.deepEqual(cut, ['b first', 'c first', 'c second'])
    assert.equal(unread.bytes, 65)
  })

  it('count no more once they are taken', () => {
    const { unread, cut, hold } = scene()
    for (let count = 0; count < 50; count++) {
      const taken = hold(`${count}`, `${count % 3}`, 90)
      taken()
      taken()
    }
    assert.equal(unread.bytes, 0)
    assert.deepEqual(cut, [])
  })
})
