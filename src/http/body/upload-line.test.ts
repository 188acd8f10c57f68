import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Failure } from '../../kernel/failure.ts'
import { transferPaceMin, transferPaceMs } from '../../kernel/limits/downloads.ts'
import { uploadBodiesAtOnce, uploadBodiesPerCaller, uploadBodiesWaitingMax } from '../../kernel/limits/transfers.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import type { ReceivingSeat } from './receiving-seat.ts'
import { createUploadLine } from './upload-line.ts'

const rounds = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** So many callers take all seats, each half of what is left. */
const halvings = Math.log2(uploadBodiesAtOnce) + 1

describe('the line of uploads', () => {
  const scene = () => {
    const time = new VirtualTime()
    const paces: number[] = []
    const line = createUploadLine(time, (pace) => paces.push(pace))
    const began: string[] = []
    const seats = new Map<OwningScope, ReceivingSeat>()
    const refused: string[] = []
    const refusedOnes: string[] = []
    const cut: string[] = []
    const enter = (caller: string): OwningScope => {
      const scope = new OwningScope((error) => assert.ifError(error))
      const cutOff = (failure: Failure): void => {
        assert.equal(failure.code, 'busy')
        assert.match(failure.message, /came at less than 64 KiB a second/)
        cut.push(caller)
        scope.end()
      }
      line.enter(scope, caller, cutOff).then(
        (seat) => {
          began.push(caller)
          seats.set(scope, seat)
        },
        (error: unknown) => {
          refused.push(error instanceof Error ? error.message : '')
          refusedOnes.push(caller)
        },
      )
      return scope
    }
    const enterMany = (caller: string, count: number): OwningScope[] =>
      Array.from({ length: count }, () => enter(caller))
    /** Takes all seats: each caller as many as one gets. */
    const enterAll = (...callers: string[]): OwningScope[] => {
      const named = Array.from({ length: halvings }, (_, at) => callers[at] ?? `caller ${at}`)
      return named.flatMap((caller, at) => enterMany(caller, Math.max(1, uploadBodiesPerCaller / 2 ** at)))
    }
    return { time, paces, began, seats, refused, refusedOnes, cut, enter, enterMany, enterAll }
  }

  it('gives one caller half of the seats, and the others theirs at once', async () => {
    const { began, refused, enter, enterMany } = scene()
    enterMany('greedy', uploadBodiesAtOnce)
    enter('other')
    await rounds()
    assert.deepEqual(began, [...Array.from({ length: uploadBodiesPerCaller }, () => 'greedy'), 'other'])
    assert.deepEqual(refused, [])
  })

  it('has a seat for whoever comes, though several send as much as they may', async () => {
    const { began, refused, enter, enterMany } = scene()
    for (const greedy of ['one', 'two', 'three', 'four', 'five']) enterMany(greedy, uploadBodiesAtOnce)
    await rounds()
    began.length = 0
    enter('other')
    await rounds()
    assert.deepEqual([began, refused], [['other'], []])
  })

  it('goes on with whoever has the fewest', async () => {
    const { began, enter, enterMany, enterAll } = scene()
    const [one, two, three] = enterAll('one', 'two')
    enterMany('two', 2)
    enter('one')
    enter('last')
    enter('caller 7')
    await rounds()
    assert.equal(began.length, uploadBodiesAtOnce)
    began.length = 0
    for (const scope of [one, two, three]) scope?.end()
    await rounds()
    assert.deepEqual(began, ['last', 'caller 7'])
  })

  it('forgets who went away, waiting or not, and is empty in the end', async () => {
    const { began, refused, enterMany, enterAll } = scene()
    const all = [...enterAll(), ...enterMany('one', 64)]
    await rounds()
    assert.equal(began.length, uploadBodiesAtOnce)
    for (const scope of all.toReversed()) scope.end()
    await rounds()
    assert.equal(refused.length, 64)
    began.length = 0
    enterAll()
    await rounds()
    assert.equal(began.length, uploadBodiesAtOnce)
  })

  it('has room for whoever comes, also when one fills it', async () => {
    const { refusedOnes, enterMany, enterAll, enter, began } = scene()
    const [first] = enterAll('one')
    enterMany('one', uploadBodiesWaitingMax)
    enter('three')
    await rounds()
    assert.deepEqual(refusedOnes, ['one'])
    began.length = 0
    first?.end()
    await rounds()
    assert.deepEqual(began, ['three'])
  })

  describe('while others wait', () => {
    /** All seats taken by some who are waited for, and send so many bytes a second. */
    const taken = async (bytesPerSecond: number) => {
      const all = scene()
      all.enterAll('slow', 'slower')
      await rounds()
      const pass = async (seconds: number): Promise<void> => {
        for (let second = 0; second < seconds; second++) {
          for (const seat of all.seats.values()) seat.awaits()
          all.time.pass(1000)
          for (const seat of all.seats.values())
            seat.received(seat.caller === 'slower' ? bytesPerSecond : bytesPerSecond + 1)
          await rounds()
        }
      }
      return { ...all, pass }
    }
    const known = (2 * transferPaceMs) / 1000

    it('the slowest is cut off, one for each, and nobody as long as nobody waits', async () => {
      const { cut, paces, began, enter, pass } = await taken(1)
      await pass(10 * known)
      assert.deepEqual(cut, [])
      began.length = 0
      enter('quick')
      await pass(2)
      assert.deepEqual([cut, began], [['slower'], ['quick']])
      enter('quick')
      enter('other')
      await pass(2)
      // One for who has none; who has one gets a second where two are free.
      assert.deepEqual(cut, ['slower', 'slower', 'slower', 'slower'])
      assert.deepEqual(paces, [1, 1, 1, 1])
    })

    it('whoever sends fast enough is not', async () => {
      const { cut, refused, enter, pass } = await taken(2 * transferPaceMin * 1000)
      await pass(known)
      enter('quick')
      await pass(known)
      assert.deepEqual([cut, refused], [[], []])
    })

    it('nobody is cut off for the time that we take, nor makes room for themselves', async () => {
      const { cut, refused, seats, time, enter, pass } = await taken(1)
      for (const seat of seats.values()) seat.goesOn()
      enter('quick')
      time.pass(20_000)
      assert.deepEqual([cut, refused], [[], []])
      time.pass(20_000)
      await rounds()
      assert.equal(refused.length, 1)
      assert.match(refused[0] ?? '', /no place came free in 30 seconds/)
      enter('slow')
      enter('slower')
      await pass(known)
      // Each has more than their share.
      assert.deepEqual(cut, [])
    })
  })

  it('is no longer than it may be', async () => {
    const { refused, enterMany } = scene()
    const all = enterMany('one', uploadBodiesPerCaller + uploadBodiesWaitingMax + 1)
    await rounds()
    assert.equal(refused.length, 1)
    assert.match(refused[0] ?? '', /Send the file again/)
    for (const scope of all) scope.end()
  })
})
