import assert from 'node:assert/strict'
import { it } from 'node:test'
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
