import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { Failure } from '../../kernel/failure.ts'
import { transferIdleMs } from '../../kernel/limits/transfers.ts'
import { OwningScope } from '../../kernel/scope.ts'
import { expectsContinue, incomingBody } from './request-body.ts'

const deadlineSeconds = 600

/** Timers that go by the test's clock. Those of node:test know no `refresh`. */
const fakeTimers = (t: TestContext) => {
  interface Timer {
    at: number
    readonly fire: () => void
    refresh(): void
  }
  const waiting = new Set<Timer>()
  let now = 0
  const start = (fire: () => void, ms: number): Timer => {
    const timer: Timer = {
      at: now + ms,
      fire,
      refresh() {
        timer.at = now + ms
        waiting.add(timer)
      },
    }
    waiting.add(timer)
    return timer
  }
  t.mock.method(globalThis, 'setTimeout', start as never)
  t.mock.method(globalThis, 'clearTimeout', ((timer: Timer) => waiting.delete(timer)) as never)
  return {
    waiting,
    tick(ms: number): void {
      now += ms
      for (const timer of [...waiting].filter(({ at }) => at <= now)) {
        waiting.delete(timer)
        timer.fire()
      }
    },
  }
}

/** A request whose body the test sends, on a clock that the test turns. */
const scene = (t: TestContext, headers: Record<string, string> = { 'transfer-encoding': 'chunked' }) => {
  const timers = fakeTimers(t)
  const sender = new PassThrough()
  const request = Object.assign(sender, { headers }) as unknown as IncomingMessage
  const told: string[] = []
  const response = { writeContinue: () => told.push('100') } as unknown as ServerResponse
  const transfer = { add: (bytes: number) => told.push(`+${bytes}`), end: () => told.push('end') }
  const scope = new OwningScope(assert.ifError)
  const body = incomingBody(request, response, {
    scope,
    deadlineSeconds,
    beginTransfer: () => transfer,
    digests: null,
    whenWhole: async () => told.push('whole'),
    seat: async () => ({ awaits() {}, goesOn() {}, received() {} }),
  })
  const pieces = body.pieces[Symbol.asyncIterator]()
  const next = async (): Promise<string | null> => {
    const piece = await pieces.next()
    return piece.done === true ? null : Buffer.from(piece.value).toString()
  }
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { sender, request, body, next, told, settle, timers, scope }
}

const fails = async (reading: Promise<unknown>, code: string, what: RegExp): Promise<void> => {
  await assert.rejects(reading, (error: unknown) => {
    assert.ok(error instanceof Failure)
    assert.equal(error.code, code)
    assert.match(error.message, what)
    return true
  })
}

describe('an incoming body', () => {
  it('is read piece by piece, counted, and ended once', async (t) => {
    const { sender, next, told, timers } = scene(t)
    sender.write('abc')
    assert.equal(await next(), 'abc')
    sender.end('de')
    assert.equal(await next(), 'de')
    assert.equal(await next(), null)
    assert.deepEqual(told, ['+3', '+2', 'whole', 'end'])
    assert.equal(timers.waiting.size, 0, 'no timer is left behind')
  })

  it('is given up when nothing comes for a while, however long it took before', async (t) => {
    const { sender, next, told, settle, timers } = scene(t)
    for (let piece = 0; piece < 3; piece++) {
      timers.tick(transferIdleMs - 1)
      sender.write('x')
      assert.equal(await next(), 'x')
    }
    const reading = next()
    await settle()
    timers.tick(transferIdleMs)
    await fails(reading, 'upload_deadline', /No byte came for 60 seconds/)
    assert.equal(told.at(-1), 'end')
  })

  it('is given up when it takes longer than the deadline, although it never stalls', async (t) => {
    const { sender, next, timers } = scene(t)
    const trickle = async (): Promise<void> => {
      for (let seconds = 0; seconds <= deadlineSeconds; seconds += 30) {
        sender.write('x')
        assert.equal(await next(), 'x')
        timers.tick(30_000)
      }
    }
    await fails(trickle(), 'upload_deadline', /within 600 seconds/)
  })

  it('does not count the time that its reader takes as silence of the sender', async (t) => {
    const { sender, next, timers } = scene(t)
    sender.write('a')
    assert.equal(await next(), 'a')
    sender.write('b')
    timers.tick(transferIdleMs * 3)
    assert.equal(await next(), 'b')
    timers.tick(transferIdleMs * 3)
    sender.end()
    assert.equal(await next(), null)
  })

  it('that is cut off is no complete one', async (t) => {
    const { sender, next, told } = scene(t)
    sender.write('half')
    assert.equal(await next(), 'half')
    const reading = next()
    sender.destroy()
    await fails(reading, 'invalid_request', /ended before it was complete/)
    assert.equal(told.at(-1), 'end')
  })

  it('is given back with its exchange, also by a reader that never comes for the rest', async (t) => {
    const { sender, next, told, scope, timers } = scene(t)
    sender.write('half')
    assert.equal(await next(), 'half')
    scope.end()
    assert.deepEqual(told, ['+4', 'end'])
    assert.equal(timers.waiting.size, 0)
    sender.write('more')
    await fails(next(), 'invalid_request', /ended before it was complete/)
    assert.deepEqual(told, ['+4', 'end'])
  })

  it('is asked for when its reader wants it, not before', async (t) => {
    const { sender, request, next, told } = scene(t)
    expectsContinue(request)
    assert.deepEqual(told, [])
    sender.end('x')
    assert.equal(await next(), 'x')
    assert.equal(told[0], '100')
    assert.equal(await next(), null)
    assert.equal(told.filter((each) => each === '100').length, 1)
  })

  it('tells the length that was declared', (t) => {
    assert.equal(scene(t).body.declaredBytes, null)
    t.mock.restoreAll()
    assert.equal(scene(t, { 'content-length': '12' }).body.declaredBytes, 12)
    t.mock.restoreAll()
    assert.equal(scene(t, {}).body.declaredBytes, 0)
  })
})
