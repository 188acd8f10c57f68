import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Failure } from './failure.ts'
import { createGate } from './gate.ts'

it('a gate lets so many work at once, in order, and goes on after a failure', async () => {
  const pass = createGate(2)
  const began: number[] = []
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<number>())
  const works = ends.map(({ promise }, index) =>
    pass(() => {
      began.push(index)
      return promise
    }),
  )
  const settled = Promise.allSettled(works)
  assert.deepEqual(began, [0, 1])
  ends[1]?.reject(new Error('broken'))
  await works[1]?.catch(() => {})
  assert.deepEqual(began, [0, 1, 2])
  ends[0]?.resolve(0)
  await works[0]
  assert.deepEqual(began, [0, 1, 2, 3])
  ends[2]?.resolve(2)
  ends[3]?.resolve(3)
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

it('a gate tells who waits no longer so, and lets those behind them in', async () => {
  const pass = createGate(1, { waitingMax: 2, full: () => new Failure('busy', 'full') })
  const first = Promise.withResolvers<string>()
  const works = [pass(() => first.promise), pass(async () => 'never', 1), pass(async () => 'later', 60_000)]
  await assert.rejects(works[1] ?? Promise.resolve(), /full/)
  first.resolve('first')
  assert.deepEqual(await Promise.all([works[0], works[2]]), ['first', 'later'])
  assert.equal(await pass(async () => 'free', 1), 'free')
})
