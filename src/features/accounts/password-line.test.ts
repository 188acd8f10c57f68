import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  passwordHashesWaitingPerNetworkMax,
  passwordHashesWaitingPerSubjectMax,
} from '../../kernel/admission-limits.ts'
import { createPasswordLine, type Place } from './password-line.ts'

describe('the line of passwords', () => {
  const scene = () => {
    const { inTurn } = createPasswordLine(1)
    const order: string[] = []
    const { promise, resolve: open } = Promise.withResolvers<void>()
    const refused: unknown[] = []
    const first = inTurn({ line: 'known', subject: 'first', network: 'first' }, () => promise)
    const come = (line: Place['line'], who: string, network = who): Promise<unknown> =>
      inTurn({ line, subject: `${network} ${who}`, network }, async () => order.push(who)).catch((error: unknown) =>
        refused.push(error),
      )
    const all: Promise<unknown>[] = [first]
    const queue = (...given: Parameters<typeof come>): void => void all.push(come(...given))
    const run = async (): Promise<string[]> => {
      open()
      await Promise.all(all)
      return order
    }
    return { queue, run, refused }
  }

  it('lets the lines take turns, and within a line the subjects', async () => {
    const { queue, run } = scene()
    for (let tries = 0; tries < 3; tries++) queue('other', 'guesser')
    queue('other', 'stranger')
    for (let tries = 0; tries < 2; tries++) queue('register', 'newcomer')
    queue('known', 'colleague')
    assert.deepEqual(await run(), ['colleague', 'guesser', 'newcomer', 'stranger', 'newcomer', 'guesser', 'guesser'])
  })

  it('has so many places for one account from a network, and for all names of a network', async () => {
    const { queue, run, refused } = scene()
    for (let tries = 0; tries <= passwordHashesWaitingPerSubjectMax; tries++) queue('known', 'greedy')
    for (let name = 0; name <= passwordHashesWaitingPerNetworkMax; name++) queue('other', `name-${name}`, 'one network')
    queue('other', 'from elsewhere')
    queue('known', 'colleague', 'one network')
    const order = await run()
    assert.equal(refused.length, 2)
    assert.ok(order.includes('from elsewhere'))
    assert.ok(order.indexOf('colleague') < 4)
  })

  it('takes a place from whoever waits most often when it is full', async () => {
    const { queue, run, refused } = scene()
    const each = passwordHashesWaitingPerNetworkMax / 2
    for (const network of ['a', 'b'])
      for (const who of ['one', 'two']) for (let tries = 0; tries < each; tries++) queue('known', who, network)
    // The line is full, and so is what the network has of it.
    queue('known', 'colleague', 'a')
    queue('known', 'visitor', 'c')
    const order = await run()
    assert.equal(refused.length, 2)
    assert.ok(order.indexOf('colleague') < 6 && order.indexOf('visitor') < 6, order.slice(0, 8).join())
  })
})
