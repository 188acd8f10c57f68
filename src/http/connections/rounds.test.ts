import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { roundMs, startsInAnyRound } from '../../kernel/limits/http.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { Rounds } from './rounds.ts'

/** An event loop whose rounds and time are told. Each request takes a while as soon as it begins. */
const scene = (eachMs: number) => {
  let now = 0
  const soon: (() => void)[] = []
  const begun: string[] = []
  const rounds = new Rounds(
    (work) => soon.push(work),
    () => now,
  )
  const scopes: OwningScope[] = []
  return {
    begun,
    rounds,
    scopes,
    send(network: string, name: string): void {
      const scope = new OwningScope(assert.ifError)
      scopes.push(scope)
      rounds.enter(network, scope, () => {
        now += eachMs
        begun.push(name)
      })
    },
    nextRound(): void {
      for (const work of soon.splice(0)) work()
    },
    isAtRest: () => soon.length === 0,
  }
}

describe('requests begin', () => {
  it('at once, where the round has time', () => {
    const { send, begun } = scene(roundMs / 100)
    for (let n = 0; n < 50; n++) send('a', `a${n}`)
    assert.equal(begun.length, 50)
  })

  it('one network after another, where it has none', () => {
    const { send, begun, nextRound, rounds } = scene(roundMs)
    for (let n = 0; n < 100; n++) send('crowd', `crowd ${n}`)
    assert.equal(begun.length, startsInAnyRound)
    send('other', 'other')
    nextRound()
    assert.ok(begun.indexOf('other') <= startsInAnyRound + 1, begun.join())
    assert.equal(begun.length, 2 * startsInAnyRound, begun.join())
    assert.equal(rounds.waiting, 101 - begun.length)
  })

  it('in the order of their network, all of them, and nothing is planned afterwards', () => {
    const requests = fc.array(fc.record({ network: fc.constantFrom('a', 'b', 'c'), round: fc.boolean() }), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(requests, fc.double({ min: 0, max: 2, noNaN: true }), (sent, share) => {
        const { send, begun, nextRound, isAtRest } = scene(share * roundMs)
        sent.forEach(({ network, round }, n) => {
          send(network, `${network}${n}`)
          if (round) nextRound()
        })
        for (let round = 0; round < 200 && !isAtRest(); round++) nextRound()
        assert.ok(isAtRest())
        assert.equal(begun.length, sent.length)
        for (const network of ['a', 'b', 'c']) {
          const numbers = begun.filter((name) => name.startsWith(network)).map((name) => Number(name.slice(1)))
          assert.deepEqual(
            numbers,
            numbers.toSorted((one, other) => one - other),
          )
        }
      }),
    )
  })

  it('never, once the connection is gone', () => {
    const { send, begun, scopes, nextRound, rounds } = scene(roundMs)
    const names = Array.from({ length: startsInAnyRound + 2 }, (_, n) => `a${n}`)
    for (const name of names) send('a', name)
    scopes[startsInAnyRound]?.end()
    for (let round = 0; round < 5; round++) nextRound()
    assert.deepEqual(begun, names.toSpliced(startsInAnyRound, 1))
    assert.equal(rounds.waiting, 0)
  })
})
