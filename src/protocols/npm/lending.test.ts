import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Lending } from './lending.ts'

describe('documents that are being sent', () => {
  const scene = () => {
    const lending = new Lending(100)
    const cut: string[] = []
    const lend = (name: string, caller: string, bytes: Uint8Array) => lending.lend(caller, bytes, () => cut.push(name))
    return { lending, cut, lend }
  }

  it('count once, however many are sent the same, until the last has it', () => {
    const { lending, cut, lend } = scene()
    const shared = new Uint8Array(60)
    const ends = ['a', 'a', 'b'].map((caller) => lend('shared', caller, shared))
    assert.equal(lending.bytes, 60)
    ends[0]?.()
    ends[0]?.()
    ends[1]?.()
    assert.equal(lending.bytes, 60)
    ends[2]?.()
    assert.deepEqual([lending.bytes, cut], [0, []])
  })

  it('are cut where they are too many: the oldest of whoever is sent most', () => {
    const { lending, cut, lend } = scene()
    lend('small one of b', 'b', new Uint8Array(30))
    lend('first of a', 'a', new Uint8Array(20))
    const ended = lend('second of a', 'a', new Uint8Array(20))
    assert.deepEqual(cut, [])
    lend('third of a', 'a', new Uint8Array(50))
    assert.deepEqual(cut, ['first of a'])
    assert.equal(lending.bytes, 100)
    ended()
    assert.equal(lending.bytes, 80)
    lend('one of c', 'c', new Uint8Array(40))
    assert.deepEqual(cut, ['first of a', 'third of a'])
  })
})
