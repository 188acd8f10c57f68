import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { Crowd } from './crowd.ts'

const limits = { most: 20, perNetwork: 8, reserved: 4, momentMs: 0 }

describe('the connections of a server', () => {
  const scene = (momentMs = 0) => {
    const time = new VirtualTime()
    const crowd = new Crowd({ ...limits, momentMs }, time)
    const closed: string[] = []
    const enter = (name: string, network: string | null, isBusy = false) => {
      const member = {
        network,
        isBusy,
        close() {
          closed.push(name)
          // Connections are told of their end later, and then leave once more.
          setImmediate(() => crowd.leave(member))
        },
      }
      return { member, served: crowd.enter(member) }
    }
    /** So many of one network, each with a request under way if `busy`. */
    const many = (count: number, network: string | null, busy: boolean): boolean[] =>
      Array.from({ length: count }, (_, n) => enter(`${network} ${n}`, network, busy).served)
    return { crowd, closed, enter, many, time }
  }

  it('of one network take the places of their own that do nothing, the longest first', () => {
    const { crowd, closed, enter, many } = scene()
    const { member } = enter('first', 'a')
    many(7, 'a', false)
    crowd.wait(member)
    assert.deepEqual(many(3, 'a', false), [true, true, true])
    assert.deepEqual(closed, ['a 0', 'a 1', 'a 2'])
    assert.equal(crowd.count, limits.perNetwork)
  })

  it('of one network that are all busy leave everybody else their room', () => {
    const { crowd, closed, enter, many } = scene()
    many(8, 'a', true)
    assert.ok(many(50, 'a', false).every((served) => !served))
    assert.equal(closed.length, 47, 'those who were turned away make room for the next when the reserve is full')
    assert.equal(crowd.count, limits.perNetwork + limits.reserved - 1)
    assert.equal(enter('another', 'b').served, true)
    assert.equal(many(50, 'a', true).includes(true), false)
  })

  it('of many networks make room, the idle ones of the largest first', () => {
    const { closed, enter, many } = scene()
    many(8, 'a', false)
    many(6, 'b', false)
    many(2, 'c', true)
    assert.equal(enter('d', 'd').served, true)
    assert.deepEqual(closed, ['a 0'])
  })

  it('that are all busy leave room for those who ask how the service is, and no more', () => {
    const { crowd, enter, many } = scene()
    for (const network of ['a', 'b']) many(8, network, true)
    const late = enter('late', 'c')
    assert.equal(late.served, false)
    crowd.wait(late.member)
    crowd.leave(late.member)
    assert.equal(crowd.count, 16)
  })

  it('that are all busy leave room for several at once who ask how the service is, until that is full, too', () => {
    const { crowd, closed, enter, many } = scene()
    for (const network of ['a', 'b']) many(8, network, true)
    const probes = ['c', 'd', 'e'].map((name) => enter(name, name))
    assert.deepEqual([probes.map(({ served }) => served), closed], [[false, false, false], []])
    enter('f', 'f')
    assert.deepEqual(closed, ['c'], 'who was waited for for longest')
    many(50, 'a', true)
    assert.ok(!closed.includes('f'), 'a network that has most of it loses its own')
    assert.equal(crowd.count, limits.most - 1, 'Node turns away who comes when there are so many')
  })

  it('that have just come alone, be it to a place that got free, are not closed for the next before they could ask', () => {
    const { closed, enter, many, time } = scene(10)
    many(8, 'a', true)
    many(7, 'b', true)
    assert.equal(enter('probe', 'c').served, true)
    assert.deepEqual([enter('next', 'd').served, closed], [false, []])
    time.pass(10)
    assert.equal(enter('later', 'e').served, true)
    assert.deepEqual(closed, ['probe'])
  })

  it('that have just come in numbers are left no time', () => {
    const { closed, enter, many } = scene(10)
    many(8, 'a', true)
    many(6, 'b', true)
    many(2, 'c', false)
    assert.equal(enter('d', 'd').served, true)
    assert.deepEqual(closed, ['c 0'])
  })

  it('of a network whose share is busy do not close each other before they could ask, and nobody else', () => {
    const { closed, enter, many } = scene(10)
    many(8, 'b', false)
    many(8, 'a', true)
    assert.deepEqual(many(2, 'a', false), [false, false])
    assert.deepEqual(closed, [])
    assert.equal(enter('c', 'c').served, true)
    assert.deepEqual(closed, ['b 0'])
  })

  it('of a proxy that is trusted have no share, and are closed last', () => {
    const { closed, enter, many } = scene()
    assert.ok(many(12, null, false).every((served) => served))
    many(4, 'a', false)
    enter('b', 'b')
    assert.deepEqual(closed, ['a 0'])
    many(4, 'c', true)
    assert.ok(closed.slice(0, 4).every((name) => name.startsWith('a') || name === 'b'))
  })

  it('of a network make room in turn: what is dropped, then who was waited for for longest', () => {
    const { crowd, closed, enter, many } = scene()
    const [first] = [enter('first', 'a').member, enter('second', 'a')]
    many(2, 'a', true)
    crowd.linger(enter('dropped', 'a').member)
    crowd.wait(first)
    enter('third', 'a')
    many(6, 'a', true)
    assert.deepEqual(closed, ['dropped', 'second', 'first', 'third'])
    assert.equal(crowd.count, limits.perNetwork)
  })

  it('that were busy and wait for their clients again make room again', () => {
    const { crowd, closed, enter, many } = scene()
    const { member } = enter('answering', 'b', true)
    many(7, 'b', true)
    many(8, 'a', true)
    assert.equal(enter('c', 'c').served, false)
    member.isBusy = false
    assert.equal(enter('d', 'd').served, false, 'nobody has said so')
    crowd.wait(member)
    assert.deepEqual(many(2, 'e', true), [true, false])
    assert.deepEqual(closed, ['answering'])
  })

  it('are forgotten when they are gone', () => {
    const { crowd, enter } = scene()
    for (let count = 0; count < 1000; count++) {
      const { member } = enter('one', `network ${count}`)
      crowd.wait(member)
      crowd.leave(member)
    }
    assert.equal(crowd.count, 0)
  })
})
