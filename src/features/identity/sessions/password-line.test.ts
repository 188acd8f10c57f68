import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  passwordHashesWaitingMax,
  passwordHashesWaitingPerNetworkMax,
  passwordHashesWaitingPerSubjectMax,
} from '../../../kernel/limits/identity.ts'
import { createPasswordLine, type Standing } from './password-line.ts'

describe('the line of passwords', () => {
  const scene = () => {
    const { inLine } = createPasswordLine(1)
    const order: string[] = []
    const { promise, resolve: open } = Promise.withResolvers<void>()
    const refused: unknown[] = []
    const first = inLine({ line: 'known', subject: 'first', network: 'first', party: 'first' }, () => promise)
    const come = (line: Standing['line'], who: string, network = who, party = network): Promise<unknown> =>
      inLine({ line, subject: `${network} ${who}`, network, party }, async () => order.push(who)).catch(
        (error: unknown) => refused.push(error),
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

  it('lets the lines take turns, within a line the parties, and within a party the subjects', async () => {
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

  it('is not filled by two networks that make up names, nor by the networks of one customer, nor by one account everywhere', async () => {
    const { queue, run, refused } = scene()
    for (let name = 0; name < passwordHashesWaitingMax; name++) queue('other', `made-up-${name}`, `network ${name % 2}`)
    queue('other', 'newcomer')
    for (let network = 0; network < passwordHashesWaitingMax; network++)
      queue('register', `many-${network}`, `network ${network}`, 'one customer')
    queue('register', 'visitor')
    for (let network = 0; network < passwordHashesWaitingMax; network++)
      queue('known', `account-${network}`, `network ${network}`, 'one account')
    queue('known', 'colleague')
    const order = await run()
    assert.equal(refused.length, 3)
    // Their parties had no turn yet: they are among the first three of each line.
    for (const who of ['newcomer', 'visitor', 'colleague'])
      assert.ok(order.slice(0, 9).includes(who), `${who} among ${order.slice(0, 9)}`)
  })

  it('is not kept full by many who come again and again: whoever comes for the first time has a turn next', async () => {
    const { inLine } = createPasswordLine(1)
    const order: string[] = []
    const networks = passwordHashesWaitingMax + 10
    const refusals = new Map<string, number>()
    let goOn = true
    /** Comes again at once, whether it had its turn or was refused. */
    const keepComing = async (who: string): Promise<void> => {
      while (goOn)
        await inLine({ line: 'other', subject: who, network: who, party: who }, async () => {
          order.push(who)
          await setImmediate()
        }).catch(async () => {
          refusals.set(who, (refusals.get(who) ?? 0) + 1)
          await setImmediate()
        })
    }
    const crowd = Array.from({ length: networks }, (_, network) => keepComing(`network ${network}`))
    try {
      while (order.length < networks * 2) await setImmediate()
      assert.ok(refusals.size > 0, 'the line is full')
      for (const who of ['newcomer', 'another']) {
        const before = order.length
        await inLine({ line: 'other', subject: who, network: who, party: who }, async () => order.push(who))
        assert.ok(order.length - before <= 3, `${who} waited for ${order.length - before} turns`)
      }
    } finally {
      goOn = false
      await Promise.all(crowd)
    }
  })
})
